/** Attachments as a model gets them. */

/** Larger attachments would fill the context of the model; REST serves them. */
export const ATTACHMENT_MAX_BYTES = 1_048_576;

export const attachmentUri = (messageId: string, attachmentId: string): string =>
  `mail:///messages/${messageId}/attachments/${attachmentId}`;
