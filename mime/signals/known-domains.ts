/** Domains that are imitated most: of mail providers, shops, banks, carriers and services that people sign in to. */
export const KNOWN_DOMAINS: readonly string[] = `
  adobe.com airbnb.com aliexpress.com amazon.co.uk amazon.com amazon.de americanexpress.com anthropic.com apple.com
  atlassian.com bankofamerica.com barclays.co.uk binance.com bing.com booking.com chase.com citi.com cloudflare.com
  coinbase.com deutschebank.de dhl.com discord.com docusign.com docusign.net dropbox.com ebay.com facebook.com fedex.com
  figma.com github.com gitlab.com gmail.com godaddy.com google.com hotmail.com hsbc.com icloud.com instagram.com
  intuit.com kraken.com linkedin.com live.com mailchimp.com mastercard.com meta.com metamask.io microsoft.com
  microsoftonline.com netflix.com notion.so office.com office365.com okta.com openai.com oracle.com outlook.com
  paypal.com postbank.de proton.me revolut.com salesforce.com santander.com shopify.com slack.com snapchat.com
  sparkasse.de spotify.com steampowered.com stripe.com telegram.org tiktok.com twitter.com uber.com ups.com usps.com
  visa.com wellsfargo.com whatsapp.com wise.com yahoo.com zendesk.com zoom.us`
  .trim()
  .split(/\s+/);
