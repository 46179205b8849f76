import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ajv } from '#api/http/validate.ts';
import { routes } from '#api/routes.ts';
import { ANY_TEXT, LINE_OF_MAIL, LINES, SOUGHT_LINE, withoutHidden } from '#domain/mail/text-forms.ts';

interface Leaf {
  /** Operation and path, such as `createKey body/name`. */
  readonly place: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

/** Every text of a schema, at whatever depth. */
function texts(schema: unknown, place: string): Leaf[] {
  if (typeof schema !== 'object' || schema === null) return [];
  if (Reflect.get(schema, 'type') === 'string') return [{ place, schema: { ...schema } }];
  return Object.entries(schema).flatMap(([name, value]) =>
    name === 'properties'
      ? Object.entries(Object(value)).flatMap(([field, inner]) => texts(inner, `${place}/${field}`))
      : texts(value, place),
  );
}

const leaves = routes.flatMap(({ operationId, query, body }) => [
  ...texts(query, `${operationId} query`),
  ...texts(body, `${operationId} body`),
]);

const BIDI = ['\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069'];
const CONTROLS = ['\0', '\u0001', '\u000b', '\u001b', '\u007f', '\u0085', '\u009b', '\u2028', '\u2029'];
const INVISIBLE = [
  '\u00ad',
  '\u034f',
  '\u115f',
  '\u180e',
  '\u200b',
  '\u2060',
  '\u206a',
  '\u3164',
  '\ufe00',
  '\ufeff',
].concat(['\uffa0', '\ufff9', '\u{1d173}', '\u{e0001}', '\u{e0061}', '\u{e0100}']);
const LINE_BREAKS = ['\n', '\r', '\t'];

/** Characters a schema lets through inside of a text that fits it otherwise. */
function allowed(schema: object, characters: readonly string[]): string[] {
  const validate = ajv.compile({ ...schema, minLength: 0 });
  return characters.filter(
    (character) => validate(character) || validate(`a${character}b`) || validate(`ab${character}`),
  );
}

/** Fields whose text is mail, a password, or checked by its use case with an answer of its own. */
const ANY = ['text', 'html', 'password', 'currentPassword', 'newPassword', 'url', 'name', 'value'];

test('every text of a request is one line, unless it declares another form', () => {
  assert.ok(leaves.length > 100);
  for (const { place, schema } of leaves) {
    if (schema['contentEncoding'] !== undefined) continue;
    if (schema['pattern'] === ANY_TEXT) {
      const field = place.split('/').at(-1) ?? '';
      assert.ok(ANY.includes(field), `${place} may hold any text`);
      if (field === 'name' || field === 'value') assert.match(place, /authHeader/, place);
      continue;
    }
    if (schema['pattern'] === SOUGHT_LINE) {
      assert.match(
        place,
        /(?: |body\/)query\/(?:folder|label|from|to|subject|q|recipient)$/,
        `${place} may look for any line`,
      );
      assert.deepEqual(allowed(schema, [...CONTROLS, ...LINE_BREAKS]), [], place);
      continue;
    }
    assert.deepEqual(allowed(schema, [...BIDI, ...CONTROLS]), [], place);
    if (schema['pattern'] === LINE_OF_MAIL)
      assert.match(
        place,
        /\b(?:to|cc|bcc|replyTo|subject|headers|filename|folder)$/,
        `${place} may be any line of mail`,
      );
    else assert.deepEqual(allowed(schema, INVISIBLE), [], place);
    assert.deepEqual(allowed(schema, LINE_BREAKS), schema['pattern'] === LINES ? LINE_BREAKS : [], place);
  }
});

test('names in scripts that are written from right to left, with their marks, are taken', () => {
  const name = leaves.find(({ place }) => place === 'createMailbox body/name');
  assert.ok(name !== undefined);
  for (const text of [
    'שלום \u200f(1)',
    'دعم العملاء',
    'Zoë 👩🏽\u200d💻',
    'Ünal \u200eAB',
    'می\u200cخواهم',
    '❤\ufe0f',
  ]) {
    assert.ok(ajv.compile({ ...name.schema })(text), text);
    assert.equal(withoutHidden(text), text);
  }
});

test('what a name may not have is removed from the names that strangers give', () => {
  for (const character of [...BIDI, ...INVISIBLE]) assert.equal(withoutHidden(`a${character}b`), 'ab');
});
