import type {
  DefaultDomain,
  Domain,
  ListDomainsQuery,
  ListEntry,
  ListInboundAllowQuery,
  ListInboundBlockQuery,
  ListOutboundAllowQuery,
  ListOutboundBlockQuery,
  ListSuppressionsQuery,
  ListTest,
  ListVerdict,
  NewDomain,
  NewListEntry,
  Suppression,
} from '#client/api-types.ts';
import type { CallOptions } from '#client/http.ts';
import type { OperationCall } from '#client/operation-call.ts';
import type { PagedList } from '#client/paged-list.ts';

/** Addresses and domains that mail is accepted from or sent to, or not: `inbound` and `outbound`, `allow` and `block`. */
export class Lists {
  readonly #call: OperationCall;

  constructor(call: OperationCall) {
    this.#call = call;
  }

  inboundAllow(query: ListInboundAllowQuery = {}, options?: CallOptions): PagedList<ListEntry> {
    return this.#call.list('listInboundAllow', [], { query, options });
  }

  addInboundAllow(fields: NewListEntry, options?: CallOptions): Promise<ListEntry> {
    return this.#call.answer('addInboundAllow', [], { body: fields, options });
  }

  async removeInboundAllow(id: string, options?: CallOptions): Promise<void> {
    await this.#call.answer('removeInboundAllow', [id], { options });
  }

  inboundBlock(query: ListInboundBlockQuery = {}, options?: CallOptions): PagedList<ListEntry> {
    return this.#call.list('listInboundBlock', [], { query, options });
  }

  addInboundBlock(fields: NewListEntry, options?: CallOptions): Promise<ListEntry> {
    return this.#call.answer('addInboundBlock', [], { body: fields, options });
  }

  async removeInboundBlock(id: string, options?: CallOptions): Promise<void> {
    await this.#call.answer('removeInboundBlock', [id], { options });
  }

  outboundAllow(query: ListOutboundAllowQuery = {}, options?: CallOptions): PagedList<ListEntry> {
    return this.#call.list('listOutboundAllow', [], { query, options });
  }

  addOutboundAllow(fields: NewListEntry, options?: CallOptions): Promise<ListEntry> {
    return this.#call.answer('addOutboundAllow', [], { body: fields, options });
  }

  async removeOutboundAllow(id: string, options?: CallOptions): Promise<void> {
    await this.#call.answer('removeOutboundAllow', [id], { options });
  }

  outboundBlock(query: ListOutboundBlockQuery = {}, options?: CallOptions): PagedList<ListEntry> {
    return this.#call.list('listOutboundBlock', [], { query, options });
  }

  addOutboundBlock(fields: NewListEntry, options?: CallOptions): Promise<ListEntry> {
    return this.#call.answer('addOutboundBlock', [], { body: fields, options });
  }

  async removeOutboundBlock(id: string, options?: CallOptions): Promise<void> {
    await this.#call.answer('removeOutboundBlock', [id], { options });
  }

  /** What the lists say about an address. */
  test(fields: ListTest, options?: CallOptions): Promise<ListVerdict> {
    return this.#call.answer('testLists', [], { body: fields, options });
  }
}

/** Addresses that nothing is sent to, because their host refused them for good. */
export class Suppressions {
  readonly #call: OperationCall;

  constructor(call: OperationCall) {
    this.#call = call;
  }

  list(query: ListSuppressionsQuery = {}, options?: CallOptions): PagedList<Suppression> {
    return this.#call.list('listSuppressions', [], { query, options });
  }

  async remove(id: string, options?: CallOptions): Promise<void> {
    await this.#call.answer('removeSuppression', [id], { options });
  }
}

/** Own domains of the organization. */
export class Domains {
  readonly #call: OperationCall;

  constructor(call: OperationCall) {
    this.#call = call;
  }

  list(query: ListDomainsQuery = {}, options?: CallOptions): PagedList<Domain> {
    return this.#call.list('listDomains', [], { query, options });
  }

  /** The answer has the DNS records to set. */
  create(fields: NewDomain, options?: CallOptions): Promise<Domain> {
    return this.#call.answer('createDomain', [], { body: fields, options });
  }

  get(id: string, options?: CallOptions): Promise<Domain> {
    return this.#call.answer('getDomain', [id], { options });
  }

  /** Looks up its DNS records now. */
  verify(id: string, options?: CallOptions): Promise<Domain> {
    return this.#call.answer('verifyDomain', [id], { options });
  }

  async delete(id: string, options?: CallOptions): Promise<void> {
    await this.#call.answer('deleteDomain', [id], { options });
  }

  /** Of mailboxes that name none. */
  default(options?: CallOptions): Promise<DefaultDomain> {
    return this.#call.answer('getDefaultDomain', [], { options });
  }
}
