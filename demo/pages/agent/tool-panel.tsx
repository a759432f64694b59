import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../../components/icon.tsx';
import { IconButton } from '../../components/icon-button.tsx';
import { messageOf } from '../../conversation/run-answer.ts';
import type { ToolShelf } from './tool-shelf.ts';

/** Wide enough for the panel to stand beside the tasks. */
const wide = matchMedia('(min-width: 60.01rem)');

/** The tools that the model gets, the folder that they may read, and a place for one's own. */
export function ToolPanel({ shelf }: { shelf: ToolShelf }) {
  const [open, setOpen] = useState(wide.matches);
  const [adding, setAdding] = useState(false);
  const folder = shelf.folder.value;
  const custom = new Set(shelf.custom.value.map(({ name }) => name));
  const count = shelf.all.value.filter(({ name }) => !shelf.off.value.has(name)).length;
  return (
    <aside class="tool-panel" aria-label="Tools">
      <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <h2>Tools</h2>
          <span>{`${count} on`}</span>
        </summary>
        <ul class="tool-list">
          {shelf.all.value.map(({ name, description, asks }) => (
            <li key={name}>
              <label>
                <input
                  type="checkbox"
                  checked={!shelf.off.value.has(name)}
                  onChange={(event) => shelf.toggle(name, event.currentTarget.checked)}
                />
                <span>
                  <span class="tool-name">{name}</span>
                  {asks && <span class="tag">asks</span>}
                  <span class="hint">{description}</span>
                </span>
              </label>
              {custom.has(name) && (
                <IconButton icon="trash" label={`Delete: ${name}`} onClick={() => void shelf.remove(name)} />
              )}
            </li>
          ))}
        </ul>
        {shelf.error.value !== null && (
          <p class="error" role="alert">
            {shelf.error}
          </p>
        )}
        <div class="stack">
          {shelf.canOpenFolders ? (
            <div>
              <p class="hint">
                {folder
                  ? `Open: ${folder.handle.name}, ${folder.write ? 'for reading and writing' : 'for reading'}`
                  : 'Files: open a folder, and the model can read what is in it.'}
              </p>
              <div class="actions">
                <button type="button" class="small" onClick={() => void shelf.openFolder(false)}>
                  <Icon name="folder" /> Open a folder
                </button>
                {folder && !folder.write && (
                  <button type="button" class="small" onClick={() => void shelf.openFolder(true)}>
                    Allow writing
                  </button>
                )}
              </div>
            </div>
          ) : (
            <p class="hint">Files: this browser opens no folders for a page.</p>
          )}
          {adding ? (
            <ToolEditor shelf={shelf} onClose={() => setAdding(false)} />
          ) : (
            <div>
              <button type="button" class="small" onClick={() => setAdding(true)}>
                <Icon name="plus" /> Add your own tool
              </button>
            </div>
          )}
        </div>
      </details>
    </aside>
  );
}

const exampleSchema = `{
  "name": "roll_dice",
  "description": "Roll dice.",
  "parameters": {
    "type": "object",
    "properties": { "sides": { "type": "integer" } },
    "required": ["sides"]
  }
}`;

function ToolEditor({ shelf, onClose }: { shelf: ToolShelf; onClose(): void }) {
  const [schema, setSchema] = useState(exampleSchema);
  const [code, setCode] = useState('return 1 + Math.floor(Math.random() * args.sides);');
  const [error, setError] = useState<string | null>(null);
  const first = useRef<HTMLTextAreaElement>(null);
  useEffect(() => first.current?.focus(), []);
  return (
    <form
      class="stack card"
      aria-label="Your own tool"
      onSubmit={async (event) => {
        event.preventDefault();
        try {
          await shelf.add(schema, code);
          onClose();
        } catch (cause) {
          setError(messageOf(cause));
        }
      }}
    >
      <label class="field">
        <span>JSON schema</span>
        <textarea
          ref={first}
          class="mono"
          rows={9}
          spellcheck={false}
          value={schema}
          onInput={(event) => setSchema(event.currentTarget.value)}
        />
      </label>
      <label class="field">
        <span>Body of the function of args, run in the sandbox</span>
        <textarea
          class="mono"
          rows={4}
          spellcheck={false}
          value={code}
          onInput={(event) => setCode(event.currentTarget.value)}
        />
      </label>
      {error !== null && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      <div class="actions">
        <button type="submit" class="small primary">
          Add
        </button>
        <button type="button" class="small" onClick={onClose}>
          Cancel
        </button>
      </div>
    </form>
  );
}
