import { ModelLoadError } from '../../../src/errors.ts';
import type { ModelSource, WebLlmChoice } from '../../../src/protocol.ts';
import type { ModelRecord, WebLlm } from './library.ts';

/** A model as web-llm is told of it, and where its other files are. */
export interface ResolvedModel {
  record: ModelRecord;
  files: ModelSource;
}

/**
 * Finds a model in web-llm's list, or makes an entry for one that is not in it.
 *
 * @param listed its id in the list; `null`: it is at `source`
 * @param modelLib URL of the compiled model; `null` for the list's own
 * @throws ModelLoadError when the list lacks the model, or nobody says where its library is
 */
export function resolveModel(
  source: ModelSource,
  { listed: id, modelLib }: Pick<WebLlmChoice, 'listed' | 'modelLib'>,
  { prebuiltAppConfig: { model_list: list } }: Pick<WebLlm, 'prebuiltAppConfig'>,
): ResolvedModel {
  if (id !== null) {
    const listed = list.find(({ model_id }) => model_id === id);
    if (!listed) throw notListed(id, list);
    return {
      record: { ...listed, ...(modelLib !== null && { model_lib: modelLib }) },
      files: placeOf(listed.model),
    };
  }
  if (source.kind === 'files') {
    throw new ModelLoadError('web-llm fetches its models by itself: give the URL of a folder.', {
      code: 'model_invalid',
    });
  }
  const folder =
    source.kind === 'folder'
      ? source.url
      : `https://huggingface.co/${source.repository}/resolve/${encodeURIComponent(source.revision)}/`;
  const listed =
    source.kind === 'hub'
      ? list.find(({ model }) => model.replace(/\/$/, '') === `https://huggingface.co/${source.repository}`)
      : undefined;
  const library = modelLib ?? listed?.model_lib;
  if (library === undefined) {
    throw new ModelLoadError(
      `web-llm needs the compiled library of ${folder}, and its list has none: give its URL as webLlm.modelLib.`,
      { code: 'model_lib_missing' },
    );
  }
  const name = source.kind === 'hub' ? source.repository : folder;
  return {
    record: { ...listed, model: unchanged(folder), model_id: name, model_lib: library },
    files: source,
  };
}

/** web-llm appends a branch to every URL that names none; this one names one, and goes back out of it. */
const unchanged = (folder: string) =>
  /.+\/resolve\/.+\//.test(folder) ? folder : `${folder}resolve/main/../../`;

/** Where the files of a listed model are. */
function placeOf(model: string): ModelSource {
  const [, repository, revision] =
    /^https:\/\/huggingface\.co\/([^/]+\/[^/]+?)(?:\/resolve\/([^/]+))?\/?$/.exec(model) ?? [];
  if (repository) {
    return { kind: 'hub', repository, revision: revision ? decodeURIComponent(revision) : 'main' };
  }
  const folder = model.endsWith('/') ? model : `${model}/`;
  return { kind: 'folder', url: /\/resolve\/.+\//.test(folder) ? folder : `${folder}resolve/main/` };
}

function notListed(id: string, list: readonly ModelRecord[]): ModelLoadError {
  const word = id.split(/[-_.]/)[0]!.toLowerCase();
  const alike = list.map(({ model_id }) => model_id).filter((name) => name.toLowerCase().startsWith(word));
  const hint =
    alike.length > 0 ? ` It has ${alike.slice(0, 12).join(', ')}${alike.length > 12 ? ', …' : ''}.` : '';
  return new ModelLoadError(
    `The installed @mlc-ai/web-llm has no model '${id}' in its list.${hint} For a model that is not in it, give its Hub repository or folder as model and its library as webLlm.modelLib.`,
    { code: 'model_not_listed' },
  );
}
