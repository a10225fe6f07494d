"""Printed invoices: PDF files rendered from stored documents only."""

from nimbill.invoicing.pdf.rendering import render_cover, render_invoice

__all__ = ["render_cover", "render_invoice"]
