import { event, id, number, optional, text, texts } from './declare.ts'

const repository = { type: 'ContainerRepository', id: 'repository_id', name: 'path' } as const

/** Events of the container registry. */
export const registryEvents = {
  container_image_pushed: event('A manifest is pushed, by its digest or to a tag', ['project'], {
    payload: { repository_id: id, digest: text, tag: optional(text) },
  }),
  container_tags_deleted: event(
    'Tags of a container image are deleted; with a digest, its manifest as well',
    ['project'],
    {
      payload: { repository_id: id, digest: optional(text), tag_count: number },
      facts: { path: text, tags: texts },
      audit: { verb: 'remove', noun: 'container_tags', target: repository },
    },
  ),
  container_tag_restored: event('A tag of a container image names again what it named before', ['project'], {
    payload: { repository_id: id, tag: text },
    facts: { path: text },
    audit: { verb: 'add', noun: 'container_tags', target: repository },
  }),
  container_blob_deleted: event('A layer without a manifest is deleted', ['project'], {
    payload: { repository_id: id, digest: text },
  }),
  container_repository_deleted: event('A repository of container images is deleted; it can be restored', ['project'], {
    payload: { repository_id: id },
    facts: { path: text },
    audit: { verb: 'remove', noun: 'container_repository', target: repository },
  }),
  container_repository_restored: event('A deleted repository of container images is restored', ['project'], {
    payload: { repository_id: id },
    facts: { path: text },
    audit: { verb: 'add', noun: 'container_repository', target: repository },
  }),
}
