import type { Consent, ConsentApproval, ConsentMessage, ListConsentsQuery } from '#client/api-types.ts';
import { type Download, downloadOf } from '#client/download.ts';
import type { CallOptions, HttpTransport } from '#client/http.ts';
import type { OperationCall } from '#client/operation-call.ts';
import type { PagedList } from '#client/paged-list.ts';
import type { ConsentScope } from '#client/types.ts';

/** Requests for consent. A key reads; a decision takes a session, unless the organization allows keys to decide. */
export class Consents {
  readonly #call: OperationCall;
  readonly #http: HttpTransport;

  constructor(call: OperationCall, http: HttpTransport) {
    this.#call = call;
    this.#http = http;
  }

  /** Newest first. */
  list(query: ListConsentsQuery = {}, options?: CallOptions): PagedList<Consent> {
    return this.#call.list('listConsents', [], { query, options });
  }

  get(id: string, options?: CallOptions): Promise<Consent> {
    return this.#call.answer('getConsent', [id], { options });
  }

  /** @param approval its scope, or scope and changes */
  approve(id: string, approval: ConsentScope | ConsentApproval, options?: CallOptions): Promise<Consent> {
    const body = typeof approval === 'string' ? { scope: approval } : approval;
    return this.#call.answer('approveConsent', [id], { body, options });
  }

  deny(id: string, reason?: string, options?: CallOptions): Promise<Consent> {
    return this.#call.answer('denyConsent', [id], { body: reason === undefined ? {} : { reason }, options });
  }

  /** The held message, as the person who decides reads it. */
  message(id: string, options?: CallOptions): Promise<ConsentMessage> {
    return this.#call.answer('getConsentMessage', [id], { options });
  }

  /** The held message byte for byte. */
  rawMessage(id: string, options?: CallOptions): Promise<Download> {
    return downloadOf(this.#http, { ...this.#call.request('getConsentMessageRaw', [id]), options });
  }

  attachment(id: string, attachmentId: string, options?: CallOptions): Promise<Download> {
    const request = this.#call.request('getConsentMessageAttachment', [id, attachmentId]);
    return downloadOf(this.#http, { ...request, options });
  }
}
