import Type, { type TObjectOptions, type TProperties, type TSchema } from 'typebox';

/** An object without further fields. */
export const closed = <const Properties extends TProperties>(properties: Properties, options: TObjectOptions = {}) =>
  Type.Object(properties, { ...options, additionalProperties: false });

export const nullable = <const Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

/** ISO 8601, UTC, with milliseconds. */
export const dateTime = (description?: string) =>
  Type.String({ format: 'date-time', ...(description === undefined ? {} : { description }) });
