/** A path for a URL: its parts are encoded, the slashes between them are not. */
export const encodedPath = (path: string): string => path.split('/').map(encodeURIComponent).join('/')
