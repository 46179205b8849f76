import type { MailBenchWorld } from './world.ts';

/** Rows of cells, the head first. */
export interface Table {
  readonly title: string;
  readonly rows: readonly (readonly string[])[];
}

export interface MailScenario {
  readonly name: string;
  readonly text: string;
  run(world: MailBenchWorld, options: { readonly messages: number }): Promise<Table>;
}
