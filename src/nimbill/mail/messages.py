"""Texts of the messages to people, in the language of the reader."""

from dataclasses import dataclass

from nimbill.foundation.language import Language


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
            "Dear {company},\n\nan account for the cloud cost portal has been created for you.\n\n"
            "Log in at: {address}\nUser name: {email}\n{password}\n"
            "If you did not expect this email, please tell your contact person.\n"
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
            "If you did not expect this email, please tell your contact person.\n"
        ),
    ),
}
_PASSWORD_LINE = {Language.ja: "パスワード: {password}\n", Language.en: "Password: {password}\n"}


def account_created(
    *, to: str, company: str, address: str, language: Language, password: str | None
) -> Message:
    """Build the message to a new reseller account; `password` only if the service generated it."""
    return _build_message(_CREATED[language], to, company, address, language, password)


def password_changed(
    *, to: str, company: str, address: str, language: Language, password: str | None
) -> Message:
    return _build_message(_CHANGED[language], to, company, address, language, password)


def _build_message(
    template: tuple[str, str],
    to: str,
    company: str,
    address: str,
    language: Language,
    password: str | None,
) -> Message:
    subject, text = template
    password_line = "" if password is None else _PASSWORD_LINE[language].format(password=password)
    # A company name becomes one line, so that it cannot forge further lines of the message.
    one_line_name = " ".join(company.split())
    return Message(
        to,
        subject,
        text.format(company=one_line_name, address=address, email=to, password=password_line),
    )
