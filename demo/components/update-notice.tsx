import { applyUpdate, updateReady } from '../offline/updates.ts';

/** Offers a new version of the app; who goes on without loses nothing. */
export function UpdateNotice() {
  if (!updateReady.value) return null;
  return (
    <div class="notice" role="status">
      <span>A new version is ready.</span>
      <button type="button" class="small primary" onClick={applyUpdate}>
        Update
      </button>
      <button
        type="button"
        class="small"
        onClick={() => {
          updateReady.value = false;
        }}
      >
        Later
      </button>
    </div>
  );
}
