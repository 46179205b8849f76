/** Arguments of tools against their schemas, with errors that name the argument and the accepted values. */
import type { fromJsonSchema } from '@modelcontextprotocol/server';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';

type Validator = NonNullable<Parameters<typeof fromJsonSchema>[1]>;

const ERRORS_SHOWN_MAX = 10;
const ajv = new Ajv2020({ allErrors: true, strict: true });

function sentence({ keyword, instancePath, params, message = 'is not valid' }: ErrorObject): string {
  const { missingProperty, additionalProperty } = params as Record<string, string | undefined>;
  const place = [...instancePath.split('/').slice(1), missingProperty ?? additionalProperty ?? []].flat().join('.');
  if (keyword === 'required') return `${place} is required`;
  if (keyword === 'additionalProperties') return `${place} is not known; check for a typing error`;
  return `${place || 'the arguments'} ${message}`;
}

export const inputValidator: Validator = {
  getValidator<Value>(schema: object) {
    // Compiled at its first use: two for each tool would be a fifth of what a process does at its start.
    let compiled: ValidateFunction<Value> | undefined;
    return (input: unknown) => {
      compiled ??= ajv.compile<Value>({ ...schema });
      return compiled(input)
        ? { valid: true, data: input, errorMessage: undefined }
        : {
            valid: false,
            data: undefined,
            errorMessage: (compiled.errors ?? []).slice(0, ERRORS_SHOWN_MAX).map(sentence).join('; '),
          };
    };
  },
};
