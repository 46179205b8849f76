import { type CallOptions, type ClientOptions, HttpTransport } from './http.ts';
import type { Consent, ConsentScope, ConsentsQuery, Page } from './types.ts';

/** An API key reads; a decision is a person's, so it takes a session (unless the organization allows keys to decide). */
export type OrganizationCredential = { readonly apiKey: string } | { readonly session: string };

const path = (id: string, rest = ''): string => `/api/consents/${encodeURIComponent(id)}${rest}`;

/** Requests for consent of an organization. Every method rejects with {@link ApiError}. */
export class ConsentsClient {
  readonly #http: HttpTransport;

  constructor(options: ClientOptions & { readonly credential: OrganizationCredential }) {
    const { credential, ...rest } = options;
    this.#http = new HttpTransport(
      rest,
      'apiKey' in credential
        ? { 'x-organization-key': credential.apiKey }
        : { authorization: `Bearer ${credential.session}` },
    );
  }

  /** Newest first. */
  async list(query: ConsentsQuery = {}, options?: CallOptions): Promise<Page<Consent>> {
    return (
      await this.#http.json<Page<Consent>>({ method: 'GET', path: '/api/consents', query: { ...query }, options })
    ).body;
  }

  async get(id: string, options?: CallOptions): Promise<Consent> {
    return (await this.#http.json<Consent>({ method: 'GET', path: path(id), options })).body;
  }

  async approve(id: string, scope: ConsentScope, options?: CallOptions): Promise<Consent> {
    const request = { method: 'POST', path: path(id, '/approve'), body: { scope }, options } as const;
    return (await this.#http.json<Consent>(request)).body;
  }

  async deny(id: string, reason?: string, options?: CallOptions): Promise<Consent> {
    const body = reason === undefined ? {} : { reason };
    return (await this.#http.json<Consent>({ method: 'POST', path: path(id, '/deny'), body, options })).body;
  }
}
