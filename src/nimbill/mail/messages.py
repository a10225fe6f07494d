"""The texts of our letters, in the reader's language."""

from dataclasses import dataclass

from nimbill.foundation.vocabulary import Language


@dataclass(frozen=True, slots=True)
class Message:
    to: str
    subject: str
    text: str


_CREATED = {
    Language.ja: (
        "ポータルのアカウントを作成しました",
        (
            "{company} 様\n\nクラウド利用料金ポータルのアカウントを作成しました。\n\n"
            "ログイン先: {address}\nユーザー名: {email}\n{password}\n"
            "このメールに心当たりがない場合は、お手数ですが担当者までご連絡ください。\n"
        ),
    ),
    Language.en: (
        "Your portal account",
        (
            "Dear {company},\n\nan account for the cloud cost portal has been made for you.\n\n"
            "Log in at: {address}\nUser name: {email}\n{password}\n"
            "If you did not expect this letter, please tell your contact person.\n"
        ),
    ),
}
_CHANGED = {
    Language.ja: (
        "ポータルのパスワードを変更しました",
        (
            "{company} 様\n\nクラウド利用料金ポータルのパスワードを変更しました。\n\n"
            "ログイン先: {address}\nユーザー名: {email}\n{password}\n"
            "このメールに心当たりがない場合は、お手数ですが担当者までご連絡ください。\n"
        ),
    ),
    Language.en: (
        "Your portal password has changed",
        (
            "Dear {company},\n\nthe password of your account for the cloud cost portal has changed."
            "\n\nLog in at: {address}\nUser name: {email}\n{password}\n"
            "If you did not expect this letter, please tell your contact person.\n"
        ),
    ),
}
_PASSWORD = {Language.ja: "パスワード: {password}\n", Language.en: "Password: {password}\n"}


def account_created(
    *, to: str, company: str, address: str, language: Language, password: str | None
) -> Message:
    """To a new reseller account; the password stands in it only when we made it."""
    return _letter(_CREATED[language], to, company, address, language, password)


def password_changed(
    *, to: str, company: str, address: str, language: Language, password: str | None
) -> Message:
    return _letter(_CHANGED[language], to, company, address, language, password)


def _letter(
    words: tuple[str, str],
    to: str,
    company: str,
    address: str,
    language: Language,
    password: str | None,
) -> Message:
    subject, text = words
    line = "" if password is None else _PASSWORD[language].format(password=password)
    # a name is one line, so that nobody else's lines stand in our letter
    name = " ".join(company.split())
    filled = text.format(company=name, address=address, email=to, password=line)
    return Message(to, subject, filled)
