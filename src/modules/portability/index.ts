export { resealUploads } from './exports/reseal-queries.ts'
