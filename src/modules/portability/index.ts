export { resealUploads } from './exports/reseal-queries.ts'
export { resealForgeTokens } from './forges/reseal-queries.ts'
export { resealDownloads } from './imports/reseal-queries.ts'
