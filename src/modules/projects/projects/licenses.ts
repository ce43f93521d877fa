/** A licence as shown in project records. */
export type License = {
  key: string
  name: string
  nickname: string | null
  html_url: string
  source_url: string
}

const license = (key: string, name: string, nickname: string | null, source_url: string): License => ({
  key,
  name,
  nickname,
  html_url: `http://choosealicense.com/licenses/${key}/`,
  source_url,
})

/** Licences recognised by their text, with phrases that must all occur in it. */
const known: readonly { license: License; phrases: readonly string[] }[] = [
  {
    license: license(
      'agpl-3.0',
      'GNU Affero General Public License v3.0',
      'GNU AGPLv3',
      'https://www.gnu.org/licenses/agpl-3.0.txt',
    ),
    phrases: ['gnu affero general public license', 'version 3'],
  },
  {
    license: license(
      'lgpl-3.0',
      'GNU Lesser General Public License v3.0',
      'GNU LGPLv3',
      'https://www.gnu.org/licenses/lgpl-3.0.txt',
    ),
    phrases: ['gnu lesser general public license', 'version 3'],
  },
  {
    license: license(
      'lgpl-2.1',
      'GNU Lesser General Public License v2.1',
      'GNU LGPLv2.1',
      'https://www.gnu.org/licenses/old-licenses/lgpl-2.1.txt',
    ),
    phrases: ['gnu lesser general public license', 'version 2.1'],
  },
  {
    license: license(
      'gpl-3.0',
      'GNU General Public License v3.0',
      'GNU GPLv3',
      'https://www.gnu.org/licenses/gpl-3.0.txt',
    ),
    phrases: ['gnu general public license', 'version 3'],
  },
  {
    license: license(
      'gpl-2.0',
      'GNU General Public License v2.0',
      'GNU GPLv2',
      'https://www.gnu.org/licenses/gpl-2.0.txt',
    ),
    phrases: ['gnu general public license', 'version 2'],
  },
  {
    license: license('apache-2.0', 'Apache License 2.0', null, 'https://www.apache.org/licenses/LICENSE-2.0.html'),
    phrases: ['apache license', 'version 2.0'],
  },
  {
    license: license('mpl-2.0', 'Mozilla Public License 2.0', null, 'https://www.mozilla.org/media/MPL/2.0/index.txt'),
    phrases: ['mozilla public license version 2.0'],
  },
  {
    license: license('mit', 'MIT License', null, 'https://opensource.org/licenses/MIT'),
    phrases: ['permission is hereby granted, free of charge', 'the software is provided "as is"'],
  },
  {
    license: license('isc', 'ISC License', null, 'https://opensource.org/licenses/isc'),
    phrases: ['permission to use, copy, modify, and/or distribute this software', 'the software is provided "as is"'],
  },
  {
    license: license(
      'bsd-3-clause',
      'BSD 3-Clause "New" or "Revised" License',
      null,
      'https://opensource.org/licenses/BSD-3-Clause',
    ),
    phrases: ['redistribution and use in source and binary forms', 'neither the name of'],
  },
  {
    license: license(
      'bsd-2-clause',
      'BSD 2-Clause "Simplified" License',
      null,
      'https://opensource.org/licenses/BSD-2-Clause',
    ),
    phrases: ['redistribution and use in source and binary forms'],
  },
  {
    license: license('unlicense', 'The Unlicense', null, 'https://unlicense.org/UNLICENSE'),
    phrases: ['this is free and unencumbered software released into the public domain'],
  },
  {
    license: license(
      'cc0-1.0',
      'Creative Commons Zero v1.0 Universal',
      null,
      'https://creativecommons.org/publicdomain/zero/1.0/legalcode',
    ),
    phrases: ['cc0 1.0 universal'],
  },
]

const byKey = new Map(known.map(({ license: one }) => [one.key, one]))

/** A licence file with an unknown text. */
const other = { key: 'other', name: 'Other', nickname: null, html_url: null, source_url: null }

export const licenseOf = (key: string) => byKey.get(key) ?? other

/**
 * Key of the licence with this text; `other` if it is unknown. Ignores spacing and case. Licences mention one another,
 * so the first match counts.
 */
export function licenseKeyOf(text: string): string {
  const words = text.toLowerCase().replace(/[“”]/g, '"').replace(/\s+/g, ' ')
  let first = { key: other.key, at: Number.POSITIVE_INFINITY }
  for (const { license: one, phrases } of known) {
    const at = words.indexOf(phrases[0]!)
    if (at >= 0 && at < first.at && phrases.every((phrase) => words.includes(phrase))) first = { key: one.key, at }
  }
  return first.key
}
