"""Reserved instances that customers bought at the vendor, and moves of them to other customers."""
