import {
  CompiledQuery,
  type ControlledTransaction,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import type { TransactionConnection } from './transaction-connection.ts';

/**
 * The ORM's transaction on a connection whose transaction the caller begins and ends. The ORM itself would leak a
 * connection that breaks at the commit: Kysely releases it only after a successful commit or rollback.
 */
export function entitiesOf(transaction: TransactionConnection): Promise<ControlledTransaction<unknown>> {
  const connection: DatabaseConnection = {
    async executeQuery<Row>({ sql, parameters }: CompiledQuery) {
      const { rows, rowCount } = await transaction.run({ text: sql, values: parameters });
      return { rows: rows as Row[], numAffectedRows: BigInt(rowCount ?? 0) };
    },
    streamQuery() {
      throw new Error('rows of a transaction are not streamed');
    },
  };
  const nothing = (): Promise<void> => Promise.resolve();
  const driver: Driver = {
    init: nothing,
    acquireConnection: () => Promise.resolve(connection),
    beginTransaction: nothing,
    commitTransaction: nothing,
    rollbackTransaction: nothing,
    async savepoint(on, name) {
      await on.executeQuery(CompiledQuery.raw(`savepoint ${name}`));
    },
    async releaseSavepoint(on, name) {
      await on.executeQuery(CompiledQuery.raw(`release savepoint ${name}`));
    },
    async rollbackToSavepoint(on, name) {
      await on.executeQuery(CompiledQuery.raw(`rollback to savepoint ${name}`));
    },
    releaseConnection: nothing,
    destroy: nothing,
  };
  return new Kysely<unknown>({
    dialect: {
      createDriver: () => driver,
      createAdapter: () => new PostgresAdapter(),
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createIntrospector: (kysely) => new PostgresIntrospector(kysely),
    },
  })
    .startTransaction()
    .execute();
}
