/**
 * SQL expression: the text that a delivery sends. It is that of the event; for an endpoint that asked for them, with
 * codes and links as the last field of `data`. An event's text ends with the braces of `data`, which is not empty, and
 * of the envelope.
 *
 * @param delivery alias of the delivery's row
 * @param event alias of the event's row
 */
export const sentPayload = (delivery: string, event: string): string => /* sql */ `
  case when ${delivery}.with_extracts and ${event}.extracts is not null
       then left(${event}.payload, -2) || ',"extracts":' || ${event}.extracts || '}}' else ${event}.payload end`;
