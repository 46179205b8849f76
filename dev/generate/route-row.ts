/** A route with the methods of the client, the commands and the MCP tools that reach it. */
export interface RouteRow {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly client: readonly string[];
  readonly cli: readonly string[];
  readonly mcp: readonly string[];
}
