/** Sizes of what a customer may write into a webhook endpoint, in characters. */
export const ENDPOINT_URL_MAX = 2_048;
export const ENDPOINT_DESCRIPTION_MAX = 500;
