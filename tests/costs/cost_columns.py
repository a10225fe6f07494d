"""The columns of vendor files with a value for each; tests state only what matters to them."""

from tests.imports.aws_reports import COLUMNS as AWS_CUR

__all__ = ["AWS_CUR"]

BILLING_ACCOUNT = "8611537"
PARTNER = "0e195b37-4574-4539-bc42-0e539b9684c0"
SUBSCRIPTION = "66bada28-271e-4b7a-aaf5-c0ead6312345"
OTHER_SUBSCRIPTION = "1dd5d03f-0acf-46e7-9f76-15b804ff40af"
AZURE_PLAN = "86646af9-e80a-4aa0-da80-3fd2b792c2cc"

AZURE_MCA = {
    "invoiceId": "",
    "billingAccountId": BILLING_ACCOUNT,
    "billingPeriodStartDate": "09/01/2026",
    "billingPeriodEndDate": "09/30/2026",
    "date": "09/05/2026",
    "SubscriptionId": SUBSCRIPTION,
    "chargeType": "Usage",
    "pricingModel": "OnDemand",
    "meterCategory": "Virtual Machines",
    "costInBillingCurrency": "1",
    "billingCurrency": "USD",
    "reservationId": "",
    "benefitId": "",
    "tags": "",
}

PARTNER_CENTER = {
    "PartnerId": PARTNER,
    "PartnerName": "Fabrikam",
    "CustomerId": "196e2273-9651-43a3-ba7e-7cbcd918fc40",
    "CustomerName": "Contoso",
    "CustomerDomainName": "contoso.example",
    "CustomerCountry": "JP",
    "MpnId": "12345",
    "Tier2MpnId": "0",
    "InvoiceNumber": "G002297372",
    "ProductId": "DZH318Z0BNZ5",
    "SkuId": "006G",
    "AvailabilityId": "DZH318Z08B80",
    "SkuName": "D2 v5",
    "ProductName": "Virtual Machines Dv5 Series",
    "PublisherName": "Microsoft",
    "PublisherId": "",
    "SubscriptionDescription": "Azure plan",
    "SubscriptionId": AZURE_PLAN,
    "ChargeStartDate": "9/1/2026 0:00",
    "ChargeEndDate": "9/30/2026 23:59",
    "UsageDate": "9/5/2026 12:00:00 AM",
    "MeterType": "1 Compute Hour",
    "MeterCategory": "Virtual Machines",
    "MeterId": "",
    "MeterSubCategory": "Dv5 Series",
    "MeterName": "D2 v5",
    "MeterRegion": "JA East",
    "Unit": "1 Hour",
    "ResourceLocation": "JAPANEAST",
    "ConsumedService": "Microsoft.Compute",
    "ResourceGroup": "SHOP",
    "ResourceURI": "",
    "ChargeType": "New",
    "UnitPrice": "0.1",
    "Quantity": "10",
    "UnitType": "1 Hour",
    "BillingPreTaxTotal": "1",
    "BillingCurrency": "USD",
    "PricingPreTaxTotal": "1",
    "PricingCurrency": "USD",
    "ServiceInfo1": "",
    "ServiceInfo2": "",
    "Tags": "",
    "AdditionalInfo": "",
    "EffectiveUnitPrice": "0.1",
    "PCToBCExchangeRate": "1",
    "PCToBCExchangeRateDate": "9/1/2026",
    "EntitlementId": SUBSCRIPTION,
    "EntitlementDescription": "Partner Subscription",
    "PartnerEarnedCreditPercentage": "15",
    "CreditPercentage": "15",
    "CreditType": "Partner Earned Credit Applied",
    "BenefitOrderId": "",
    "BenefitId": "",
    "BenefitType": "",
}

FOCUS_1_2 = {
    "BillingAccountId": "000000000042",
    "SubAccountId": "000000000001",
    "ProviderName": "AWS",
    "PublisherName": "Amazon Web Services, Inc.",
    "InvoiceIssuerName": "Amazon Web Services, Inc.",
    "BillingPeriodStart": "2026-09-01T00:00:00Z",
    "ChargeCategory": "Usage",
    "ChargeClass": "",
    "ServiceName": "Amazon EC2",
    "BilledCost": "1",
    "EffectiveCost": "1",
    "BillingCurrency": "USD",
    "ChargePeriodStart": "2026-09-05T00:00:00Z",
    "CommitmentDiscountId": "",
    "CommitmentDiscountCategory": "",
    "CommitmentDiscountStatus": "",
    "InvoiceId": "INV-1",
}

# both pairs of names exist in 1.3
FOCUS_1_3 = {
    **FOCUS_1_2,
    "ServiceProviderName": "Amazon Web Services",
    "HostProviderName": "Amazon Web Services",
}

FOCUS_1_4 = {
    name: value
    for name, value in FOCUS_1_3.items()
    if name not in ("ProviderName", "PublisherName")
}
