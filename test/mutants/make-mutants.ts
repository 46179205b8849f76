/**
 * Mutants of a source file: each is one small change that a test should notice, such as another operator, another
 * boundary, a condition that always or never holds, a statement left out. Left out by kind: types, log lines, texts, and
 * arithmetic of constants at the top of a module, such as times.
 */
import { type Node, parseSync, visitorKeys } from 'oxc-parser';

export interface Mutant {
  /** Relative to the project folder. */
  readonly file: string;
  readonly line: number;
  /** In characters. */
  readonly offset: number;
  /** `before → after`, on one line. */
  readonly change: string;
  /** The whole file. */
  readonly source: string;
}

const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '&&': ['||'],
  '||': ['&&'],
  '??': ['&&'],
};
/** Calls of a logger; `super()`, without which there is no object; directives. */
const LEFT_OUT = /^(?:(?:await|void)\s+)?(?:[\w#]+\??\.)*#?(?:log|logger)\??\.\w+\(|^super\(|^['"]/;
/** Kinds that run nothing. An expression with a type, such as `x as T`, has a value inside. */
const WITHOUT_CODE = /^(?:Import|ExportAll)|^TS(?!As|Satisfies|NonNull|Instantiation)/;
const SHOWN_MAX_CHARACTERS = 90;

const isText = (node: Node): boolean =>
  node.type === 'TemplateLiteral' ||
  (node.type === 'Literal' && typeof node.value === 'string') ||
  (node.type === 'BinaryExpression' && (isText(node.left) || isText(node.right)));

/** A number or text that a function returns, changed. */
function otherConstant(node: Node | null): string[] {
  if (node?.type !== 'Literal') return [];
  if (typeof node.value === 'string') return [node.value === '' ? "'mutant'" : "''"];
  return typeof node.value === 'number' ? [String(node.value + 1)] : [];
}

/** @returns a part of the node, and what it can be replaced by */
function changesOf(node: Node, source: string, isTopLevel: boolean): readonly [part: Node, texts: readonly string[]] {
  if (node.type === 'IfStatement' || node.type === 'ConditionalExpression') return [node.test, ['true', 'false']];
  if (node.type === 'WhileStatement') return [node.test, ['false']];
  if (node.type === 'BinaryExpression' || node.type === 'LogicalExpression') {
    if (isText(node) || (isTopLevel && /^[-+*/%]$/.test(node.operator))) return [node, []];
    const at = source.indexOf(node.operator, node.left.end);
    const [before, after] = [source.slice(node.start, at), source.slice(at + node.operator.length, node.end)];
    return [node, (OPERATORS[node.operator] ?? []).map((other) => before + other + after)];
  }
  if (node.type === 'UnaryExpression' && node.operator === '!')
    return [node, [source.slice(node.argument.start, node.argument.end)]];
  if (node.type === 'Literal' && typeof node.value === 'boolean') return [node, [String(!node.value)]];
  if (node.type === 'ReturnStatement') return [node.argument ?? node, otherConstant(node.argument)];
  if (node.type === 'ArrowFunctionExpression') return [node.body, otherConstant(node.body)];
  return [node, node.type === 'ExpressionStatement' ? [';'] : []];
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;
const oneLine = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > SHOWN_MAX_CHARACTERS ? `${line.slice(0, SHOWN_MAX_CHARACTERS)}…` : line;
};

/** @param file relative to the project folder @throws Error if the file cannot be read as TypeScript */
export function mutantsOf(file: string, source: string): Mutant[] {
  const mutants: Mutant[] = [];
  const visit = (node: Node, isTopLevel: boolean) => {
    if (WITHOUT_CODE.test(node.type)) return;
    if (node.type === 'ExpressionStatement' && LEFT_OUT.test(source.slice(node.start, node.end))) return;
    const [{ start, end }, texts] = changesOf(node, source, isTopLevel);
    for (const text of texts) {
      const mutated = source.slice(0, start) + text + source.slice(end);
      // Every test would notice a file that is no program.
      if (parseSync(file, mutated).errors.length > 0) continue;
      const change = `${oneLine(source.slice(start, end))} → ${text === ';' ? '(removed)' : oneLine(text)}`;
      mutants.push({ file, line: source.slice(0, start).split('\n').length, offset: start, change, source: mutated });
    }
    const fields = node as unknown as Readonly<Record<string, unknown>>;
    for (const key of visitorKeys[node.type] ?? [])
      for (const child of [fields[key]].flat())
        if (isNode(child)) visit(child, isTopLevel && !node.type.includes('Function'));
  };
  const { program, errors } = parseSync(file, source);
  if (errors[0] !== undefined) throw new Error(`${file}: ${errors[0].message}`);
  visit(program, true);
  return mutants;
}
