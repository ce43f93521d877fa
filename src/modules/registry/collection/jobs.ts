import { Type } from 'typebox'
import { job } from '../../../jobs/job.ts'
import { collectImages } from './service.ts'

const graceHours = 24

/** Deletes images that cannot be restored any more, and links of layers without an image. */
export const collectContainerImages = job({
  name: 'collect_container_images',
  input: Type.Object({}),
  key: () => 'collect_container_images',
  attempts: 3,
  every: { cron: '15 * * * *', input: {} },
  async run(_input, ctx) {
    const manifests = await collectImages(ctx, {
      retentionDays: ctx.settings.container_registry_retention_days,
      graceHours,
    })
    if (manifests > 0) ctx.log.info({ manifests }, 'deleted container images')
  },
})
