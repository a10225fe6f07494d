"""Characters to try in a name: all that resemble letters or signs, and a sample of the others."""

LETTERS_AND_SIGNS = range(0x2C00)  # from ASCII to number forms and mathematical signs
FULL_WIDTH = range(0xFE00, 0x10000)
SAMPLE_OF_OTHERS = range(0x2C00, 0x110000, 251)

CHARACTERS = [
    chr(number)
    for numbers in (
        LETTERS_AND_SIGNS,
        FULL_WIDTH,
        SAMPLE_OF_OTHERS,
        [0x1D400, 0x1D7CE, 0x1F600, 0x10FFFF],
    )
    for number in numbers
]
