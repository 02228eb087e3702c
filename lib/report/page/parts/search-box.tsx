import { useId, useState } from 'preact/hooks';

type Props = {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
};

/** What was typed is shown at once; what is found follows 120 ms after the last key. */
export function SearchBox({ label, value, onValue }: Props) {
  const id = useId();
  const [typed, setTyped] = useState<string>();
  const [timer, setTimer] = useState<ReturnType<typeof setTimeout>>();
  const typing = (text: string) => {
    clearTimeout(timer);
    setTyped(text);
    setTimer(
      setTimeout(() => {
        onValue(text);
        setTyped(undefined);
      }, 120),
    );
  };
  return (
    <div class="search">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="search"
        autocomplete="off"
        spellcheck={false}
        value={typed ?? value}
        onInput={(event) => typing(event.currentTarget.value)}
      />
    </div>
  );
}
