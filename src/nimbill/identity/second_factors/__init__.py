"""Second factors of sign-in: passkeys and authenticator apps."""
