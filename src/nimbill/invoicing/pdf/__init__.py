"""The printed invoice: a PDF from the kept document and from nothing else."""

from nimbill.invoicing.pdf.rendering import covering_pdf, pdf_of

__all__ = ["covering_pdf", "pdf_of"]
