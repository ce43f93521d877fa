/** Errors as the service sends them, by the response of `outputs.ts` and then by case. A test provokes each of them. */
export const errorExamples = {
  BadRequest: {
    'missing-parameter': { error: 'id is missing' },
    'invalid-parameter': { error: 'active is invalid' },
    'unknown-value': { error: 'sort does not have a valid value' },
    'failed-validation': { message: { path: ['has already been taken'] } },
  },
  Unauthenticated: {
    'no-token': { message: '401 Unauthorized' },
    'revoked-token': {
      error: 'invalid_token',
      error_description: 'Token was revoked. You have to re-authorize from the user.',
    },
  },
  Forbidden: {
    'missing-permission': { message: '403 Forbidden' },
    'missing-scope': {
      error: 'insufficient_scope',
      error_description: 'The request requires higher privileges than provided by the access token.',
      scope: 'api',
    },
  },
  NotFound: {
    'unknown-resource': { message: '404 Project Not Found' },
    'unknown-path': { error: '404 Not Found' },
  },
  NotAllowed: { 'unknown-method': { error: '405 Not Allowed' } },
  Conflict: { 'name-taken': { message: 'Label already exists' } },
  UnsupportedMediaType: {
    'unknown-type': { error: "The provided content-type 'text/csv' is not supported." },
  },
} as const
