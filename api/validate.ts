import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormatsModule, { type FormatsPlugin } from 'ajv-formats';
import type { TSchema } from 'typebox';
import { CatalogueError, type ErrorDetail } from '../domain/errors.ts';
import type { RouteInfo } from './route.ts';

// The package is CommonJS with an ES default: under nodenext the namespace is typed, the function is what runs.
const addFormats = addFormatsModule as unknown as FormatsPlugin;

const bodyAjv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true });
/** Query values arrive as text; a parameter that may be repeated is an array also when given once. */
const queryAjv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true, coerceTypes: 'array' });
addFormats(bodyAjv);
addFormats(queryAjv);

const ERRORS_SHOWN_MAX = 20;
const NO_FIELDS = { type: 'object', properties: {}, additionalProperties: false } as const;

/** A JSON pointer to the field an error is about: also for fields that are missing or too many. */
function pointerOf(error: ErrorObject): string {
  const { missingProperty, additionalProperty, propertyName } = error.params as Record<string, string | undefined>;
  const field = missingProperty ?? additionalProperty ?? propertyName;
  if (field === undefined) return error.instancePath;
  return `${error.instancePath}/${field.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function messageOf(error: ErrorObject): string {
  switch (error.keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return 'is not a known field';
    case 'const':
      return `must be ${JSON.stringify(error.params.allowedValue)}`;
    case 'enum':
      return `must be one of ${JSON.stringify(error.params.allowedValues)}`;
    default:
      return error.message ?? 'is not valid';
  }
}

/** Errors as details of the one error shape; branches of a union are told as one error. */
function detailsOf(errors: readonly ErrorObject[], place: string): ErrorDetail[] {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf');
  const shown = errors.filter(
    (error) => !unions.some((union) => union !== error && error.schemaPath.startsWith(`${union.schemaPath}/`)),
  );
  return shown.slice(0, ERRORS_SHOWN_MAX).map((error) => {
    const pointer = pointerOf(error);
    const allowed: unknown[] = error.keyword === 'anyOf' ? allowedValues(error) : [];
    return {
      path: place === '' ? pointer : `${place}${pointer}`,
      message: allowed.length > 0 ? `must be one of ${JSON.stringify(allowed)}` : messageOf(error),
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

function compile(ajv: Ajv2020, schema: TSchema | typeof NO_FIELDS, place: string): Check {
  const validate: ValidateFunction = ajv.compile({ ...schema });
  return (value) => {
    if (validate(value)) return;
    throw new CatalogueError('invalid_request', undefined, { details: detailsOf(validate.errors ?? [], place) });
  };
}

/** Compiled checks of a route; each throws `invalid_request` (params: `not_found`). Query values are coerced in place. */
export interface RouteChecks {
  params(value: unknown): void;
  query(value: unknown): void;
  body(value: unknown): void;
}

/** Compiles the schemas of a route, once, when it is mounted. */
export function compileChecks(route: RouteInfo): RouteChecks {
  const isParams = route.params === undefined ? undefined : bodyAjv.compile({ ...route.params });
  return {
    params(value) {
      // An id of the wrong form names no resource.
      if (isParams !== undefined && !isParams(value)) throw new CatalogueError('not_found');
    },
    query: compile(queryAjv, route.query ?? NO_FIELDS, 'query'),
    body: compile(bodyAjv, route.body ?? NO_FIELDS, ''),
  };
}
