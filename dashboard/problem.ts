interface ErrorBody {
  readonly code?: string;
  readonly message?: string;
  readonly fix?: string;
  readonly requestId?: string;
  readonly details?: readonly { readonly path: string; readonly message: string }[];
}

/** What the service answered instead of what was asked for. `message` and `fix` are meant for people. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly fix: string;
  readonly requestId: string | undefined;
  readonly details: readonly { readonly path: string; readonly message: string }[];

  /** @param status of HTTP; 0: there was no answer */
  constructor(status: number, error: ErrorBody) {
    super(error.message ?? 'The service gave no answer that can be read.');
    this.status = status;
    this.code = error.code ?? 'unknown';
    this.fix = error.fix ?? 'Try again. If it happens again, ask the operator of the service.';
    this.requestId = error.requestId;
    this.details = error.details ?? [];
  }

  /** What is wrong with a field of the body, e.g. `/localPart`. */
  about(path: string): string | undefined {
    return this.details.find((detail) => detail.path === path)?.message;
  }
}

/** What the service says about a field of a form that it refused. */
export const aboutField = (error: unknown, path: string): string | undefined =>
  error instanceof Problem ? error.about(path) : undefined;

/** Whether it is an answer that another attempt would get again. */
export const isFinal = (error: unknown): boolean =>
  error instanceof Problem && error.status >= 400 && error.status < 500;
