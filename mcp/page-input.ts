import Type from 'typebox';

export const LIST_DEFAULT = 20;

/** The input of tools that return a list in pages. */
export const pageInput = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, description: `Maximum number; default ${LIST_DEFAULT}.` }),
  ),
  cursor: Type.Optional(Type.String({ description: 'nextCursor of the previous page.' })),
};
