"""The price book: dated dollars per token class, and exact bills of usage against them."""

from costpass.pricing.bill import Bill, BillLine, bill
from costpass.pricing.book import PriceBook, Quote
from costpass.pricing.rates import PriceError, Rate, Rates

__all__ = ["Bill", "BillLine", "PriceBook", "PriceError", "Quote", "Rate", "Rates", "bill"]
