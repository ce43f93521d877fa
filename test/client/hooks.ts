import { registerHooks } from 'node:module'

/**
 * `openapi-typescript` prints types with the API of TypeScript 5, which TypeScript 7 does not have: it gets version 5,
 * installed as `typescript-5`. To be loaded with `node --import`.
 */
registerHooks({
  resolve: (specifier, context, next) => next(specifier === 'typescript' ? 'typescript-5' : specifier, context),
})
