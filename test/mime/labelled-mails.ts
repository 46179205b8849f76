/**
 * Mails labelled with the code and the link that a person finds in them, from `mails/<set>/<language>.txt`, and a score
 * of what the rules find.
 *
 * A mail is `## category: subject`, then `code:` and `link:` lines with what is expected, an empty line, and the body,
 * which is HTML where it begins with a tag, and two alternatives where it begins with `~~~plain`: the plain text, a line
 * `~~~html`, and the HTML. Several `code:` lines are spellings of one code. `link: sign_in https://…`
 * is the link that must come first; `link: page https://…` the page where the code is typed, which may come first or
 * not; without one no link may claim to confirm, sign in or reset.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { surelyCode } from '#mime/one-time-code.ts';
import { type MessageContent, readMessage } from '#mime/read-message.ts';

const FOLDER = fileURLToPath(new URL('mails', import.meta.url));

export interface LabelledMail {
  readonly name: string;
  readonly subject: string;
  readonly body: string;
  /** Spellings of the code; empty: there is none. */
  readonly codes: readonly string[];
  /** Kind and address of the link that comes first; undefined: no link asks for something. */
  readonly link: { readonly kind: string; readonly url: string } | undefined;
}

/**
 * The rules were made with the sets for tuning. Each other was written without looking at the rules, and measured once before
 * they were corrected by what it showed.
 */
export const MAIL_SETS = [
  'tuning',
  'tuning-second',
  'held-out',
  'held-out-second',
  'held-out-third',
  'held-out-fourth',
  'held-out-fifth',
  'held-out-sixth',
  'held-out-seventh',
  'held-out-eighth',
  'held-out-ninth',
  'held-out-tenth',
  'held-out-eleventh',
  'held-out-twelfth',
  'held-out-thirteenth',
  'held-out-fourteenth',
  'held-out-fifteenth',
  'held-out-sixteenth',
  'held-out-seventeenth',
  'held-out-eighteenth',
  'held-out-nineteenth',
  'held-out-twentieth',
  'held-out-twenty-first',
  'held-out-twenty-second',
  'held-out-twenty-third',
  'held-out-twenty-fourth',
  'held-out-twenty-fifth',
  'held-out-twenty-sixth',
  'held-out-twenty-seventh',
  'held-out-twenty-eighth',
  'held-out-twenty-ninth',
  'held-out-thirtieth',
  'held-out-thirty-first',
  'held-out-thirty-second',
  'held-out-thirty-third',
  'held-out-thirty-fourth',
  'held-out-thirty-fifth',
] as const;
export type MailSet = (typeof MAIL_SETS)[number];

export function labelledMails(set: MailSet): LabelledMail[] {
  return readdirSync(path.join(FOLDER, set)).flatMap((file) =>
    readFileSync(path.join(FOLDER, set, file), 'utf8')
      .split(/^## /m)
      .slice(1)
      .map((block) => labelledMail(block, path.basename(file, '.txt'))),
  );
}

function labelledMail(block: string, language: string): LabelledMail {
  const lines = block.split('\n');
  const [, category = '', subject = ''] = /^([a-z]+): (.*)$/.exec(lines[0] ?? '') ?? [];
  if (category === '') throw new Error(`A mail of ${language} has no category: ${lines[0]}`);
  const codes: string[] = [];
  let link: LabelledMail['link'];
  let at = 1;
  for (; lines[at]?.trim() !== ''; at++) {
    const [, key = '', value = ''] = /^(code|link): (.+)$/.exec(lines[at] ?? '') ?? [];
    if (key === 'code') codes.push(value);
    else if (key === 'link' && value !== 'none') {
      const [kind = '', url = ''] = value.split(' ');
      link = { kind, url };
    } else if (key === '') throw new Error(`Not understood in a mail of ${language}: ${lines[at]}`);
  }
  return {
    name: `${language} ${category}: ${subject}`,
    subject,
    body: lines
      .slice(at + 1)
      .join('\n')
      .trim(),
    codes,
    link,
  };
}

/** Reads a mail as it would arrive. */
export const contentOf = (mail: LabelledMail): MessageContent => readMessage(messageOf(mail)).content;

/** A mail as it would arrive. */
export function messageOf({ subject, body }: LabelledMail): Buffer {
  const [, plain, html] = /^~~~plain\n([^]*?)\n~~~html\n([^]*)$/.exec(body) ?? [];
  const part = (subtype: string, text: string): string =>
    `Content-Type: text/${subtype}; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n${lines(text)}`;
  const lines = (text: string): string => Buffer.from(text).toString('base64').replace(/.{76}/g, '$&\r\n');
  const whole =
    plain === undefined || html === undefined
      ? part(body.startsWith('<') ? 'html' : 'plain', body)
      : `Content-Type: multipart/alternative; boundary=cut\r\n\r\n--cut\r\n${part('plain', plain)}\r\n--cut\r\n${part('html', html)}\r\n--cut--\r\n`;
  const header = `Subject: =?utf-8?B?${Buffer.from(subject).toString('base64')}?=\r\nMIME-Version: 1.0\r\n`;
  return Buffer.from(header + whole);
}

export interface Score {
  readonly mails: number;
  readonly withCode: number;
  readonly withLink: number;
  /** A wrong code, or one where there is none; a link first that must not be. */
  readonly wrong: readonly string[];
  readonly missed: readonly string[];
}

const ASKS = new Set(['confirm', 'sign_in', 'reset']);

export function score(mails: readonly LabelledMail[]): Score {
  const wrong: string[] = [];
  const missed: string[] = [];
  for (const mail of mails) {
    const { name, codes, link } = mail;
    const { codes: candidates, links } = contentOf(mail);
    const code = surelyCode(candidates);
    if (code !== null && !codes.includes(code)) wrong.push(`${name}: code ${code}, not ${codes[0] ?? 'none'}`);
    else if (code === null && codes.length > 0) missed.push(`${name}: code ${codes[0]}; ${JSON.stringify(candidates)}`);
    const [first] = links;
    const asks = first !== undefined && ASKS.has(first.kind);
    if (link === undefined && asks) wrong.push(`${name}: link ${first.kind} ${first.url}`);
    else if (link?.kind === 'page') {
      if (asks && first.url !== link.url) wrong.push(`${name}: link ${first.kind} ${first.url}, not ${link.url}`);
    } else if (link !== undefined && !asks) missed.push(`${name}: link ${link.kind} ${link.url}; ${first?.kind}`);
    else if (link !== undefined && (first?.kind !== link.kind || first.url !== link.url))
      wrong.push(`${name}: link ${first?.kind} ${first?.url}, not ${link.kind} ${link.url}`);
  }
  return {
    mails: mails.length,
    withCode: mails.filter(({ codes }) => codes.length > 0).length,
    withLink: mails.filter(({ link }) => link !== undefined && link.kind !== 'page').length,
    wrong,
    missed,
  };
}
