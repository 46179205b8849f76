/** The attachments of a message with what about them may harm, found out from their bytes. Pure. */
import type { PartNode } from '@agent-mailbox/mime-structure/index-message';
import { type AttachmentInfo, leaves } from '@agent-mailbox/mime-structure/parts';
import { decodeTransfer } from '@agent-mailbox/mime-structure/transfer-encoding';
import { type AttachmentRisk, attachmentRisks } from '#domain/mail/attachment-risks.ts';
import { contentForm, FORM_BYTES, hasMacros, MACROS_SEARCHED_MAX_BYTES } from './content-form.ts';

export interface LabelledAttachment extends AttachmentInfo {
  /** Left out: only its name and type are known, since the message could not be read within its limits. */
  readonly risks?: readonly AttachmentRisk[];
}

/** The longest encoding of a byte is three characters (RFC 2045 §6.7). */
const ENCODED_PER_BYTE_MAX = 3;

export function labelledAttachments(
  bytes: Uint8Array,
  { parts, attachments }: { readonly parts: PartNode; readonly attachments: readonly AttachmentInfo[] },
): LabelledAttachment[] {
  if (attachments.length === 0) return [];
  const byId = new Map([...leaves(parts)].map(({ number, part }) => [number, part]));
  return attachments.map((info) => {
    const part = byId.get(info.id);
    return { ...info, risks: part === undefined ? risksByName(info) : risksOf(bytes, part, info) };
  });
}

/** The risks that a name and a declared type tell. */
export const risksByName = ({ filename, contentType }: AttachmentInfo): AttachmentRisk[] =>
  attachmentRisks({ filename, contentType });

function risksOf(bytes: Uint8Array, part: PartNode, { filename, contentType }: AttachmentInfo): AttachmentRisk[] {
  const decoded = (max: number) =>
    decodeTransfer(bytes.subarray(part.body, Math.min(part.end, part.body + max)), part.encoding);
  const form = contentForm(decoded(FORM_BYTES * ENCODED_PER_BYTE_MAX));
  const mayHaveMacros = form === 'zip' || form === 'ole';
  return attachmentRisks({
    filename,
    contentType,
    form,
    hasMacros: mayHaveMacros && hasMacros(Buffer.from(decoded(MACROS_SEARCHED_MAX_BYTES)), form),
  });
}
