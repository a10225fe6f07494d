"""Characters to try in a name: all those that look like letters or signs, some of all others."""

PLAIN_AND_ALIKE = range(0x2C00)  # ASCII to the number forms, dashes and mathematical signs
FULL_WIDTH = range(0xFE00, 0x10000)
ANY_OTHER = range(0x2C00, 0x110000, 251)

CHARACTERS = [
    chr(number)
    for numbers in (PLAIN_AND_ALIKE, FULL_WIDTH, ANY_OTHER, [0x1D400, 0x1D7CE, 0x1F600, 0x10FFFF])
    for number in numbers
]
