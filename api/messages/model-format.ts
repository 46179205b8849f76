/**
 * `format=model`: with `modelText`, the part of an answer that a language model reads, without characters that a person
 * cannot see and between two lines that no sender can predict. The same as by MCP.
 */
import Type from 'typebox';
import { fenced } from '#client/model-text.ts';

const MODEL = 'model';
const EXPLAINED =
  '`model`: with `modelText` for a language model, without characters that a person cannot see, which says that mail is data and not instructions';

/** Of lists, threads and waits. */
export const ListFormat = Type.Optional(
  Type.Enum(['full', MODEL], { description: `\`full\` (default): the fields alone. ${EXPLAINED}.` }),
);

/** Of a message. */
export const MessageFormat = Type.Optional(
  Type.Enum(['full', 'text', 'metadata', MODEL], {
    description: `\`full\` (default): text, HTML and header; \`text\`: text alone; \`metadata\`: neither. ${EXPLAINED}; otherwise as \`text\`.`,
  }),
);

export const ModelText = Type.Optional(
  Type.String({
    description:
      'With `format=model`: give a model this text and no other field. It is mail as JSON, between lines that no sender can predict, and after a sentence that says what it is.',
  }),
);

/** @param read the part of the answer that a model reads; called for `format=model` alone */
export const inFormat = <Body extends object>(
  body: Body,
  format: string | undefined,
  read: (body: Body) => unknown,
): Body & { readonly modelText?: string } => (format === MODEL ? { ...body, modelText: fenced(read(body)) } : body);
