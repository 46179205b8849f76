/** Reports of other hosts about mail of a domain: DMARC (RFC 7489 §7.2) and SMTP TLS (RFC 8460). */

/** Local parts that take them, at each domain served here. */
export const REPORT_ADDRESSES = { dmarc: 'dmarc', tls: 'tls-reports' } as const;
export type DomainReportKind = keyof typeof REPORT_ADDRESSES;

/** Bytes of one report after unpacking. */
export const REPORT_UNPACKED_MAX_BYTES = 4_194_304;
/** Depth of its XML. */
export const REPORT_XML_DEPTH_MAX = 32;
/** Sources or failures of one report that are kept: those with the most mail. */
export const REPORT_ROWS_MAX = 500;
/** Rows of the summary of one domain. */
export const REPORT_SUMMARY_ROWS_MAX = 50;
/** Reports for one organization that are accepted in an hour. */
export const REPORTS_PER_HOUR_MAX = 300;
export const DOMAIN_REPORT_RETENTION_DAYS = 90;
export const REPORT_DAYS_DEFAULT = 30;
/** Characters of a name or reason in a report that are kept. */
export const REPORT_TEXT_MAX_CHARACTERS = 255;
