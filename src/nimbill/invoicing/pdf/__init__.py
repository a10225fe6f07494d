"""Printed invoices: PDF files rendered from stored documents only."""
