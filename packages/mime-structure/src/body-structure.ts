/** BODYSTRUCTURE with extension data (RFC 9051 §7.5.2) as it goes over the wire, made from the offset tree. */
import { envelopeText } from './envelope.ts';
import { headerFields } from './header-fields.ts';
import { imapNString, imapString } from './imap-strings.ts';
import type { PartNode, StoredParameter } from './index-message.ts';

/** One character per byte. */
export function bodyStructureText(bytes: Uint8Array, part: PartNode): string {
  if (part.type === 'multipart' && part.parts !== undefined)
    return `(${part.parts.map((child) => bodyStructureText(bytes, child)).join('')} ${imapString(part.subtype)} ${parameterList(part.params)} ${disposition(part)} ${languages(part)} ${imapNString(part.location)})`;
  // A leaf that only looks composite must not promise the grammar of a composite.
  const [type, subtype] = part.opaque ? ['application', 'octet-stream'] : [part.type, part.subtype];
  const fields = [
    imapString(type),
    imapString(subtype),
    parameterList(part.params, type === 'text' && part.params === undefined),
    imapNString(part.id),
    imapNString(part.description),
    imapString(part.encoding),
    String(part.end - part.body),
  ];
  const [inner] = part.parts ?? [];
  if (inner !== undefined) {
    const envelope = envelopeText(headerFields(bytes, inner.header, inner.body));
    fields.push(envelope, bodyStructureText(bytes, inner), String(part.lines));
  } else if (type === 'text') fields.push(String(part.lines));
  fields.push(imapNString(part.md5), disposition(part), languages(part), imapNString(part.location));
  return `(${fields.join(' ')})`;
}

/** RFC 2045 §5.2: text without a charset is US-ASCII. */
function parameterList(params: readonly StoredParameter[] | undefined, defaultCharset = false): string {
  if (params === undefined || params.length === 0) return defaultCharset ? '("charset" "us-ascii")' : 'NIL';
  return `(${params.map(parameterText).join(' ')})`;
}

/** Joined extended parameters go out as one `name*` in UTF-8, unless plain ASCII says the same. */
function parameterText([name, text, extended]: StoredParameter): string {
  if (extended === undefined || /^[ -~]*$/.test(text)) return `${imapString(asBytes(name))} ${imapString(text)}`;
  const encoded = encodeURIComponent(text).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return `${imapString(`${asBytes(name)}*`)} ${imapString(`utf-8''${encoded}`)}`;
}

const asBytes = (text: string): string => Buffer.from(text).toString('latin1');

const disposition = (part: PartNode): string =>
  part.disposition === undefined
    ? 'NIL'
    : `(${imapString(part.disposition.value)} ${parameterList(part.disposition.params)})`;

function languages(part: PartNode): string {
  const [first, ...more] = part.language ?? [];
  if (first === undefined) return 'NIL';
  return more.length === 0 ? imapString(first) : `(${[first, ...more].map(imapString).join(' ')})`;
}
