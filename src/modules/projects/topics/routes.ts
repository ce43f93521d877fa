import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { File, Flag, Id, Nullable, Optional, Params, Text } from '../../../api/params/types.ts'
import { instance } from '../../instance/index.ts'
import { Topic } from './entity.ts'
import { listTopics, topicRow } from './queries.ts'
import { createTopic, editTopic, getTopic, mergeTopics, removeTopic } from './service.ts'

const topicId = Params({ id: Id({ description: 'ID of the topic' }) }).properties
const text = (description: string) => Optional(Nullable(Text({ description })))

export const topicRoutes = [
  endpoint({
    method: 'GET',
    path: '/topics',
    summary: 'List topics',
    description: 'Most used first.',
    subject: instance,
    allow: 'browse',
    params: Params({
      search: Optional(Text({ description: 'Part of the name or title' })),
      without_projects: Optional(Flag({ description: 'Only topics without projects' })),
    }),
    paged: true,
    returns: Topic,
    handle: ({ params, page, ctx }) => fetchPage(ctx.db, topicRow, listTopics(ctx.actor, params), page),
  }),

  endpoint({
    method: 'GET',
    path: '/topics/:id',
    summary: 'Get a topic',
    subject: instance,
    allow: 'browse',
    params: Params(topicId),
    returns: Topic,
    handle: ({ params, ctx }) => getTopic(ctx, params.id),
  }),

  endpoint({
    method: 'POST',
    path: '/topics',
    summary: 'Create a topic',
    subject: instance,
    allow: 'administer',
    params: Params({
      name: Text({ description: 'Name of the topic on projects' }),
      title: text('Title'),
      description: text('Description'),
      avatar: Optional(File({ description: 'Avatar image' })),
    }),
    returns: Topic,
    handle: ({ params: { name, title = null, description = null, avatar }, ctx }) =>
      createTopic(ctx, { name, title, description }, avatar),
  }),

  endpoint({
    method: 'POST',
    path: '/topics/merge',
    summary: 'Merge two topics',
    description: 'Projects of the source topic move to the target topic; the source topic is deleted.',
    subject: instance,
    allow: 'administer',
    params: Params({
      source_topic_id: Id({ description: 'ID of the source topic, which is deleted' }),
      target_topic_id: Id({ description: 'ID of the target topic, which stays unchanged' }),
    }),
    returns: Topic,
    handle: ({ params, ctx }) => mergeTopics(ctx, params.source_topic_id, params.target_topic_id),
  }),

  endpoint({
    method: 'PUT',
    path: '/topics/:id',
    summary: 'Update a topic',
    description: 'A new name applies to all projects with the topic.',
    subject: instance,
    allow: 'administer',
    params: Params({
      ...topicId,
      name: Optional(Text({ description: 'Name of the topic on projects' })),
      title: text('Title'),
      description: text('Description'),
      avatar: Optional(Nullable(File({ description: 'Avatar image; empty removes it' }))),
    }),
    returns: Topic,
    handle: ({ params: { id, name, title, description, avatar }, ctx }) =>
      editTopic(ctx, id, { name, title, description }, avatar),
  }),

  endpoint({
    method: 'DELETE',
    path: '/topics/:id',
    summary: 'Delete a topic',
    description: 'Removes the topic from all projects.',
    subject: instance,
    allow: 'administer',
    params: Params(topicId),
    returns: null,
    handle: ({ params, ctx }) => removeTopic(ctx, params.id),
  }),
]
