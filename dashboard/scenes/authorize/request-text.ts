/** The query of the program, as the service put it into the address: `q` and base64url. Empty: there is none. */
export function queryOfRequest(request: string): string {
  try {
    return request.startsWith('q') ? atob(request.slice(1).replaceAll('-', '+').replaceAll('_', '/')) : '';
  } catch {
    return '';
  }
}
