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
            "次のリンクから、ご自身のパスワードを設定してください(7日間有効、1回のみ)。\n{link}\n\n"
            "ログイン先: {address}\nユーザー名: {email}\n{password}\n"
            "このメールに心当たりがない場合は、お手数ですが担当者までご連絡ください。\n"
        ),
    ),
    Language.en: (
        "Your portal account",
        (
            "Dear {company},\n\nan account for the cloud cost portal has been created for you.\n\n"
            "Choose your own password with this link. It works once, within 7 days.\n{link}\n\n"
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
_INVITED = {
    Language.ja: (
        "アカウントを作成しました",
        (
            "{username} 様\n\nクラウド利用料金の管理画面のアカウントを作成しました。\n\n"
            "次のリンクから、ご自身のパスワードを設定してください(7日間有効、1回のみ)。\n{link}\n\n"
            "ユーザー名: {username}\n\n"
            "このメールに心当たりがない場合は、お手数ですが担当者までご連絡ください。\n"
        ),
    ),
    Language.en: (
        "Your account",
        (
            "Dear {username},\n\nan account for the cloud cost pages has been created for you.\n\n"
            "Choose your own password with this link. It works once, within 7 days.\n{link}\n\n"
            "User name: {username}\n\n"
            "If you did not expect this email, please tell your contact person.\n"
        ),
    ),
}
_FORGOTTEN = {
    Language.ja: (
        "パスワードの再設定",
        (
            "{username} 様\n\nパスワード再設定のお申し込みがありました。\n\n"
            "次のリンクから、新しいパスワードを設定してください(1時間有効、1回のみ)。\n{link}\n\n"
            "お申し込みに心当たりがない場合は、このメールを破棄してください。パスワードは変わりません。\n"
        ),
    ),
    Language.en: (
        "Choose a new password",
        (
            "Dear {username},\n\nsomebody asked for a new password of your account.\n\n"
            "Choose it with this link. It works once, within one hour.\n{link}\n\n"
            "If you did not ask for it, ignore this email. Your password stays as it is.\n"
        ),
    ),
}
_BUDGET = {
    Language.ja: (
        "予算アラート: {budget} ({percent}%)",
        (
            "{company} 様\n\n{month}の{kind}が、予算「{budget}」の {percent}% に達しました。\n\n"
            "予算: {limit}\n{kind}: {amount}\n\n詳細: {address}\n\n"
            "この通知は、予算としきい値ごとに月に一度だけ送信されます。\n"
        ),
    ),
    Language.en: (
        "Budget alert: {budget} ({percent}%)",
        (
            "Dear {company},\n\nthe {kind} of {month} has reached {percent}% of the budget "
            '"{budget}".\n\nBudget: {limit}\nAmount: {amount}\n\nDetails: {address}\n\n'
            "This message is sent once per month for each budget and threshold.\n"
        ),
    ),
}
_BUDGET_KINDS = {
    Language.ja: {False: "利用額", True: "予測額"},
    Language.en: {False: "usage", True: "forecast"},
}
_PASSWORD_LINE = {Language.ja: "パスワード: {password}\n", Language.en: "Password: {password}\n"}


def account_created(
    *, to: str, company: str, address: str, language: Language, password: str | None, link: str
) -> Message:
    """Build the message to a new reseller account; `password` only if the service generated it.

    With `link` the reader chooses a password.
    """
    subject, text = _CREATED[language]
    template = (subject, text.replace("{link}", link))
    return _build_message(template, to, company, address, language, password)


def user_invited(*, to: str, username: str, link: str, language: Language) -> Message:
    """Build the message to a new subuser, who chooses a password with the link."""
    subject, text = _INVITED[language]
    return Message(to, subject, text.format(username=username, link=link))


def password_forgotten(*, to: str, username: str, link: str, language: Language) -> Message:
    """Build the message to a user who forgot the password."""
    subject, text = _FORGOTTEN[language]
    return Message(to, subject, text.format(username=username, link=link))


def password_changed(
    *, to: str, company: str, address: str, language: Language, password: str | None
) -> Message:
    return _build_message(_CHANGED[language], to, company, address, language, password)


def budget_threshold_passed(
    *,
    to: str,
    company: str,
    budget: str,
    month: str,
    percent: int,
    is_forecast: bool,
    limit: str,
    amount: str,
    address: str,
    language: Language,
) -> Message:
    """Build the message that a month has reached a percentage of its budget."""
    subject, text = _BUDGET[language]
    values = {
        "company": _to_one_line(company),
        "budget": _to_one_line(budget),
        "month": month,
        "percent": percent,
        "kind": _BUDGET_KINDS[language][is_forecast],
        "limit": limit,
        "amount": amount,
        "address": address,
    }
    return Message(to, subject.format_map(values), text.format_map(values))


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
    name = _to_one_line(company)
    return Message(
        to, subject, text.format(company=name, address=address, email=to, password=password_line)
    )


def _to_one_line(name: str) -> str:
    """A name becomes one line, so that it cannot forge further lines of the message."""
    return " ".join(name.split())
