import type {
  ActivityResult,
  AuditEntry,
  FindActivityQuery,
  GetUsageQuery,
  ListAuditQuery,
  Organization,
  OrganizationChanges,
  OrganizationSending,
  Usage,
} from '#client/api-types.ts';
import type { CallOptions } from '#client/http.ts';
import type { OperationCall } from '#client/operation-call.ts';
import type { PagedList } from '#client/paged-list.ts';

/** The organization of the credential: its settings, and the brakes of its sending. */
export class Organizations {
  readonly #call: OperationCall;

  constructor(call: OperationCall) {
    this.#call = call;
  }

  get(options?: CallOptions): Promise<Organization> {
    return this.#call.answer('getOrganization', [], { options });
  }

  /** For admins. The settings include the stop of all sending. */
  update(changes: OrganizationChanges, options?: CallOptions): Promise<Organization> {
    return this.#call.answer('updateOrganization', [], { body: changes, options });
  }

  /** What is stopped, and who may end it. */
  sending(options?: CallOptions): Promise<OrganizationSending> {
    return this.#call.answer('getOrganizationSending', [], { options });
  }

  usage(query: GetUsageQuery = {}, options?: CallOptions): Promise<Usage> {
    return this.#call.answer('getUsage', [], { query, options });
  }

  /** Who did what; newest first. */
  audit(query: ListAuditQuery = {}, options?: CallOptions): PagedList<AuditEntry> {
    return this.#call.list('listAudit', [], { query, options });
  }

  /** The timeline of a message, an address, an event; for signed-in members. */
  activity(query: FindActivityQuery, options?: CallOptions): Promise<ActivityResult> {
    return this.#call.answer('findActivity', [], { query, options });
  }
}
