"""Generates vendor cost files for the demo, the tests and the benchmarks.

charges.py       the charges of a synthetic month, derived from a seed
products.py      the products and tags that charges refer to
columns.py       columns of a file and how charges become CSV or Parquet
aws.py, azure.py, focus.py   the columns of each dialect
file_writer.py   writes the files and the vendor's manifest
manifests.py     the manifests of AWS and Azure
"""
