import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormatsModule, { type FormatsPlugin } from 'ajv-formats';
import type { TSchema } from 'typebox';
import { CatalogueError, type ErrorDetail } from '#domain/errors.ts';
import { formInWords, withInvisibleBeyond } from '#domain/mail/text-forms.ts';
import type { RouteInfo } from './route.ts';

// The package is CommonJS with an ES default: under nodenext the namespace is typed, the function is what runs.
const addFormats = addFormatsModule as unknown as FormatsPlugin;

const regExp = Object.assign((pattern: string, flags: string) => new RegExp(withInvisibleBeyond(pattern), flags), {
  code: 'new RegExp',
});
/** Compiles the schemas of requests. */
export const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true, code: { regExp } });
addFormats(ajv);

const ERRORS_SHOWN_MAX = 20;
const NO_FIELDS = { type: 'object', properties: {}, additionalProperties: false } as const;

/** A JSON pointer to the field an error is about: also for fields that are missing or too many. */
function pointerOf(error: ErrorObject): string {
  const { missingProperty, additionalProperty, propertyName } = error.params as Record<string, string | undefined>;
  const field = missingProperty ?? additionalProperty ?? propertyName;
  if (field === undefined) return error.instancePath;
  return `${error.instancePath}/${field.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function messageOf(error: ErrorObject, errors: readonly ErrorObject[]): string {
  switch (error.keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return 'is not a known field';
    case 'const':
      return `must be ${JSON.stringify(error.params.allowedValue)}`;
    case 'enum':
      return `must be one of ${JSON.stringify(error.params.allowedValues)}`;
    case 'pattern':
      return formInWords(error.params.pattern) ?? error.message ?? 'is not valid';
    case 'anyOf':
      return typesOf(error, errors) ?? 'is not valid';
    default:
      return error.message ?? 'is not valid';
  }
}

/** The types that a union of types takes. */
function typesOf(union: ErrorObject, errors: readonly ErrorObject[]): string | undefined {
  const types = errors
    .filter((error) => isWithin(error, union) && error.instancePath === union.instancePath && error.keyword === 'type')
    .map(({ params }) => String(params['type']));
  return types.length === 0 ? undefined : `must be ${[...new Set(types)].join(' or ')}`;
}

const isWithin = (error: ErrorObject, union: ErrorObject): boolean =>
  union !== error && error.schemaPath.startsWith(`${union.schemaPath}/`);

/** The errors of the branch of a union that the value was meant for: the only one whose type it has. */
function meantBranch(union: ErrorObject, errors: readonly ErrorObject[]): ErrorObject[] {
  const branches = Map.groupBy(
    errors.filter((error) => isWithin(error, union)),
    ({ schemaPath }) => schemaPath.slice(union.schemaPath.length + 1).split('/')[0],
  );
  const isOtherType = ({ keyword, instancePath }: ErrorObject): boolean =>
    ['type', 'const', 'anyOf'].includes(keyword) && instancePath === union.instancePath;
  const meant = [...branches.values()].filter((branch) => !branch.some(isOtherType));
  return meant.length === 1 ? meant.flat() : [];
}

/** Errors as details of the error format. Of a union only the branch is reported that was meant, if that is clear. */
function detailsOf(errors: readonly ErrorObject[], place: string): ErrorDetail[] {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf');
  const shown = errors.flatMap((error) => {
    if (unions.some((union) => isWithin(error, union))) return [];
    const meant = error.keyword === 'anyOf' ? meantBranch(error, errors) : [];
    return meant.length > 0 ? meant : [error];
  });
  return shown.slice(0, ERRORS_SHOWN_MAX).map((error) => {
    const pointer = pointerOf(error);
    const allowed: unknown[] = error.keyword === 'anyOf' ? allowedValues(error) : [];
    return {
      path: place === '' ? pointer : `${place}${pointer}`,
      message: allowed.length > 0 ? `must be one of ${JSON.stringify(allowed)}` : messageOf(error, errors),
    };
  });
}

/** The values of a union of literals. */
function allowedValues(error: ErrorObject): unknown[] {
  const branches = Array.isArray(error.schema) ? (error.schema as { const?: unknown; type?: unknown }[]) : [];
  const values = branches.map((branch) => (branch.type === 'null' ? null : branch.const));
  return values.every((value) => value !== undefined) ? values : [];
}

type Check = (value: unknown) => void;
type Schema = TSchema | typeof NO_FIELDS;

const compiled = new WeakMap<Schema, ValidateFunction>();

/** The compiled form of a schema, made at its first use: all of them take a second, and most processes use few. */
function validatorOf(schema: Schema): ValidateFunction {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  const validate = ajv.compile({ ...schema });
  compiled.set(schema, validate);
  return validate;
}

function checkOf(schema: Schema, place: string): Check {
  return (value) => {
    const validate = validatorOf(schema);
    if (validate(value)) return;
    throw new CatalogueError('invalid_request', undefined, { details: detailsOf(validate.errors ?? [], place) });
  };
}

interface QuerySchema {
  readonly properties?: Readonly<Record<string, { readonly type?: string }>>;
}

/** The value of a query parameter's text. Numbers are plain digits: `1e2`, `0x10`, `+5` and ` 5` are none. */
const QUERY_VALUES: Readonly<Record<string, (text: string) => unknown>> = {
  integer: (text) => (/^[0-9]{1,15}$/.test(text) ? Number(text) : text),
  boolean: (text) => (text === 'true' ? true : text === 'false' ? false : text),
  array: (text) => [text],
};

/** Texts of a query as values of their types, in place; other texts do not change, and fail the check. */
function readQueryValues(schema: QuerySchema, query: Record<string, unknown>): void {
  for (const [name, { type = '' }] of Object.entries(schema.properties ?? {})) {
    const given = query[name];
    const read = QUERY_VALUES[type];
    if (typeof given === 'string' && read !== undefined) query[name] = read(given);
  }
}

function queryCheckOf(schema: TSchema | undefined): (query: Record<string, unknown>) => void {
  const check = checkOf(schema ?? NO_FIELDS, 'query');
  return (query) => {
    readQueryValues(schema ?? {}, query);
    check(query);
  };
}

/** Checks of a route; each throws `invalid_request` (params: `not_found`). Query values are read in place. */
export interface RouteChecks {
  params(value: unknown): void;
  query(value: Record<string, unknown>): void;
  body(value: unknown): void;
}

export function checksOf(route: RouteInfo): RouteChecks {
  const { params } = route;
  return {
    params(value) {
      // An id of the wrong form names no resource.
      if (params !== undefined && !validatorOf(params)(value)) throw new CatalogueError('not_found');
    },
    query: queryCheckOf(route.query),
    body: checkOf(route.body ?? NO_FIELDS, ''),
  };
}
