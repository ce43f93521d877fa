import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable } from '../../../api/schema.ts'
import { pictureUrl } from '../../namespaces/index.ts'
import type { TopicRow } from './queries.ts'

export const Topic = entity({
  name: 'Topic',
  schema: Type.Object({
    id: Type.Integer({ description: 'ID of the topic' }),
    name: Type.String({ description: 'Name of the topic, as projects list it' }),
    title: nullable(Type.String(), { description: 'Title for display; null if there is none' }),
    description: nullable(Type.String(), { description: 'Description; null if there is none' }),
    total_projects_count: Type.Integer({
      description: 'Number of projects with the topic that the caller can see',
    }),
    avatar_url: nullable(Type.String(), { description: 'URL of the avatar; null if there is none' }),
  }),
  present: (row: TopicRow, { site }) => ({
    id: row.id,
    name: row.name,
    title: row.title,
    description: row.description,
    total_projects_count: row.projects,
    avatar_url: pictureUrl(site, 'topic', row.id, row.avatar),
  }),
})
