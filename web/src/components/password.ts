// The rules of a password, and a way to invent one.
const LENGTH_MIN = 8;
const LENGTH_MAX = 18;
const INVENTED_LENGTH = 16;
// Without characters that look alike.
const LETTERS = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";

export function isPassword(text: string): boolean {
  const length = [...text].length;
  return LENGTH_MIN <= length && length <= LENGTH_MAX;
}

/** Every letter is equally likely: numbers beyond the last whole round are drawn again. */
export function inventPassword(): string {
  const limit = 256 - (256 % LETTERS.length);
  let password = "";
  while (password.length < INVENTED_LENGTH) {
    for (const number of crypto.getRandomValues(new Uint8Array(32))) {
      if (number < limit && password.length < INVENTED_LENGTH)
        password += LETTERS[number % LETTERS.length];
    }
  }
  return password;
}
