export { assetProxyOf, markdownBy } from './markdown/render.ts'
