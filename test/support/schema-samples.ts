/** Values that break a schema, one rule each, made from the schema itself. */
import { firstIdBodyAt } from '#domain/ids.ts';
import { ANY_TEXT, LINES, SOUGHT_LINE } from '#domain/mail/text-forms.ts';

/** Texts that other readers take for numbers. The limits of integers here allow 1 to 5. */
const NO_PLAIN_DIGITS = [
  'x',
  '1e0',
  '0x1',
  '+1',
  ' 1',
  '1 ',
  '1.0',
  '1.',
  '-1',
  '\u0661',
  '\uff11',
  '1_0',
  '',
  'Infinity',
];

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly format?: string;
  readonly pattern?: string;
  readonly contentEncoding?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
}

export interface Wrong {
  /** Names of the fields down to the wrong one. */
  readonly path: readonly string[];
  readonly value: unknown;
  readonly why: string;
}

/** Longer texts would meet the limit of the body first. */
const LENGTH_TRIED_MAX = 5_000;

function wrongTexts(schema: Schema): { value: string; why: string }[] {
  const wrong: { value: string; why: string }[] = [];
  if (schema.enum !== undefined) wrong.push({ value: 'no-such-value', why: 'not of the list' });
  if (schema.format !== undefined) wrong.push({ value: `not a ${schema.format}`, why: `no ${schema.format}` });
  if (schema.pattern !== undefined && schema.pattern !== ANY_TEXT)
    wrong.push({ value: '\u0001', why: 'not of the pattern' });
  if ((schema.minLength ?? 0) > 0) wrong.push({ value: '', why: 'too short' });
  if (schema.maxLength !== undefined && schema.maxLength < LENGTH_TRIED_MAX)
    wrong.push({ value: 'x'.repeat(schema.maxLength + 1), why: 'too long' });
  if (schema.type === 'string' && schema.pattern !== ANY_TEXT && schema.contentEncoding === undefined) {
    wrong.push({ value: 'ab\u0085cd', why: 'with a control' });
    if (schema.pattern !== SOUGHT_LINE) wrong.push({ value: 'ab\u202ecd', why: 'with a bidirectional override' });
    if (schema.pattern !== LINES) wrong.push({ value: 'ab\ncd', why: 'of two lines' });
  }
  return wrong;
}

function wrongNumbers(schema: Schema): { value: number; why: string }[] {
  const wrong: { value: number; why: string }[] = [];
  if (schema.minimum !== undefined) wrong.push({ value: schema.minimum - 1, why: 'too small' });
  if (schema.maximum !== undefined) wrong.push({ value: schema.maximum + 1, why: 'too large' });
  return wrong;
}

/** Wrong values of one field of a JSON body. */
function wrongValues(schema: Schema): { value: unknown; why: string }[] {
  if (schema.anyOf !== undefined) {
    const types = schema.anyOf.map(({ type }) => type);
    const more = schema.anyOf.flatMap((branch) => (branch.type === 'string' ? wrongTexts(branch) : []));
    return types.includes('object') ? more : [{ value: { no: 'object' }, why: 'an object' }, ...more];
  }
  if (schema.enum !== undefined || schema.type === 'string')
    return [{ value: 12_345, why: 'a number' }, { value: null, why: 'null' }, ...wrongTexts(schema)];
  if (schema.type === 'integer')
    return [{ value: 'x', why: 'a text' }, { value: 1.5, why: 'a fraction' }, ...wrongNumbers(schema)];
  if (schema.type === 'boolean') return [{ value: 'x', why: 'a text' }];
  if (schema.type === 'array')
    return [
      { value: 'x', why: 'a text' },
      ...((schema.minItems ?? 0) > 0 ? [{ value: [], why: 'empty' }] : []),
      ...(schema.items === undefined
        ? []
        : wrongValues(schema.items).map(({ value, why }) => ({ value: [value], why }))),
    ];
  if (schema.type === 'object') return [{ value: 'x', why: 'a text' }];
  return [];
}

/** Everything that can be wrong with the fields of a JSON body, nested objects included. */
export function wrongFields(schema: unknown, prefix: readonly string[] = []): Wrong[] {
  return Object.entries((schema as Schema | undefined)?.properties ?? {}).flatMap(([name, field]) => [
    ...wrongValues(field).map((wrong) => ({ path: [...prefix, name], ...wrong })),
    ...(field.properties === undefined ? [] : wrongFields(field, [...prefix, name])),
  ]);
}

/** Everything that can be wrong with query parameters, whose values are texts. */
export function wrongParameters(schema: unknown): { name: string; value: string; why: string }[] {
  return Object.entries((schema as Schema | undefined)?.properties ?? {}).flatMap(([name, field]) => {
    const numbers = wrongNumbers(field).map(({ value, why }) => ({ name, value: String(value), why }));
    const isText = field.type === 'string' || field.enum !== undefined;
    if (isText) return wrongTexts(field).map((wrong) => ({ name, ...wrong }));
    if (field.type === 'integer')
      return [...NO_PLAIN_DIGITS.map((value) => ({ name, value, why: `as ${value}` })), ...numbers];
    if (field.type === 'boolean') return [{ name, value: 'x', why: 'a text' }, ...numbers];
    return [];
  });
}

/** A value of a path parameter that has the right form and names nothing. */
export function unknownId(schema: unknown): string {
  const prefix = /^\^([a-z]{3}_)/.exec((schema as Schema | undefined)?.pattern ?? '')?.[1];
  return prefix === undefined ? '1' : prefix + firstIdBodyAt(0);
}

/** An object with one value replaced, missing objects on the way made. */
export function withValue(base: unknown, path: readonly string[], value: unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  const object = typeof base === 'object' && base !== null ? base : {};
  return { ...object, [name]: withValue(Reflect.get(object, name), rest, value) };
}
