// The game as a class, and the functions that the library calls.
using System;
using System.Runtime.InteropServices;

namespace Testudo
{
    /// <summary>Unity's IL2CPP looks for an attribute of this name at functions that native code calls.</summary>
    [AttributeUsage(AttributeTargets.Method)]
    internal sealed class MonoPInvokeCallbackAttribute : Attribute
    {
        public MonoPInvokeCallbackAttribute(Type type) { Type = type; }
        public Type Type { get; }
    }

    /// <summary>To whom a game shows its numbers, within its function Visit only.</summary>
    public sealed class Visit : IDisposable
    {
        IntPtr handle;
        internal Visit(IntPtr handle) { this.handle = handle; }
        void IDisposable.Dispose() { handle = IntPtr.Zero; } // it goes with the call: whoever keeps it is refused
        /// <summary>The following numbers belong to this object: unit 17.</summary>
        public void Object(string kind, uint index) => TestudoException.Check(Native.testudo_visit_object(handle, kind, index));
        public void Number(string name, long value) => TestudoException.Check(Native.testudo_visit_number(handle, name, value));
        public void World(World world) => TestudoException.Check(Native.testudo_visit_world(handle, world));
        public void Crowd(Crowd crowd) => TestudoException.Check(Native.testudo_visit_crowd(handle, crowd));
    }

    /// <summary>The game: derive from it. What TestudoGame in testudo.h says of its functions holds here. An exception of one comes out of the call that
    /// ran it, within an InvalidOperationException. After a call of Native that runs the game, such as testudo_match_take_replay, Rethrow throws it.</summary>
    public abstract class Game
    {
        /// <summary>Greatest number of bits of an order, 1 to 4,096.</summary>
        public abstract uint ActionBits { get; }
        public abstract void Apply(uint player, byte[] data, uint bits);
        public abstract void Step(uint framesPerSecond);
        public abstract ulong Checksum();
        /// <summary>The bytes may be a stranger's: answer 0 if they are no order. A TestudoException is that answer, too; throw nothing else.
        /// Default: every order has exactly ActionBits.</summary>
        public virtual uint ActionLength(byte[] data, uint bits) => bits < ActionBits ? 0 : ActionBits;
        public virtual void TurnStarted(uint turn, uint frames) { }
        public virtual void TurnEnded(uint turn, ulong checksum) { }
        public virtual void PlayerGone(uint player, uint turn) { }
        public virtual void PlayerSurrendered(uint player, uint turn) => PlayerGone(player, turn);
        public virtual void PlayerTakenOver(uint player, uint turn) => PlayerGone(player, turn);
        public virtual void PlayerReturned(uint player, uint turn) { }
        public virtual void PlayFor(uint player, uint turn) { }
        /// <summary>Whether it has Save and Load. Asked once, when a match is made.</summary>
        public virtual bool HasState => false;
        /// <summary>Appends the whole state to a buffer, which is of no use afterwards. False: it could not.</summary>
        public virtual bool Save(Buffer to) => false;
        /// <summary>The bytes are a stranger's. False: they are no state of this game, and nothing has changed. A TestudoException, as of World.Load, is
        /// that answer, too; throw nothing else.</summary>
        public virtual bool Load(byte[] data) => false;
        public virtual void SavePoint(uint turn) { }
        /// <summary>The result once it is decided.</summary>
        public virtual uint? Result() => null;
        public virtual bool IsOver() => false;
        /// <summary>Whether it has Visit. Asked once, when a match is made.</summary>
        public virtual bool NamesNumbers => false;
        /// <summary>Names the numbers of the state, all of them in an order that follows from the state. Take messages, also if the game has none.</summary>
        public virtual void Visit(Visit numbers) { }

        /// <summary>An exception does not pass through the library: it waits here until the call is over.</summary>
        internal Exception Thrown;

        /// <summary>Throws what one of the functions has thrown meanwhile. The state may be half changed then.</summary>
        public void Rethrow()
        {
            var thrown = Thrown;
            Thrown = null;
            if (thrown != null) throw new InvalidOperationException("the game has failed; give up the match", thrown);
        }

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)] delegate uint LengthCall(IntPtr context, IntPtr data, uint bits);
        [UnmanagedFunctionPointer(CallingConvention.Cdecl)] delegate void ApplyCall(IntPtr context, uint player, IntPtr data, uint bits);
        [UnmanagedFunctionPointer(CallingConvention.Cdecl)] delegate void NumberCall(IntPtr context, uint number);
        [UnmanagedFunctionPointer(CallingConvention.Cdecl)] delegate ulong ChecksumCall(IntPtr context);
        [UnmanagedFunctionPointer(CallingConvention.Cdecl)] delegate void TwoCall(IntPtr context, uint first, uint second);
        [UnmanagedFunctionPointer(CallingConvention.Cdecl)] delegate void EndedCall(IntPtr context, uint turn, ulong checksum);
        [UnmanagedFunctionPointer(CallingConvention.Cdecl)] delegate byte SaveCall(IntPtr context, IntPtr buffer);
        [UnmanagedFunctionPointer(CallingConvention.Cdecl)] delegate byte LoadCall(IntPtr context, IntPtr data, UIntPtr length);
        [UnmanagedFunctionPointer(CallingConvention.Cdecl)] delegate byte ResultCall(IntPtr context, IntPtr to);
        [UnmanagedFunctionPointer(CallingConvention.Cdecl)] delegate byte OverCall(IntPtr context);
        [UnmanagedFunctionPointer(CallingConvention.Cdecl)] delegate void VisitCall(IntPtr context, IntPtr visit);

        // Kept for ever: the library has their addresses.
        static readonly LengthCall actionLength = OnActionLength;
        static readonly ApplyCall apply = OnApply;
        static readonly NumberCall step = OnStep, savePoint = OnSavePoint;
        static readonly ChecksumCall checksum = OnChecksum;
        static readonly TwoCall turnStarted = OnTurnStarted, playerGone = OnPlayerGone, playerSurrendered = OnPlayerSurrendered,
            playerTakenOver = OnPlayerTakenOver, playerReturned = OnPlayerReturned, playFor = OnPlayFor;
        static readonly EndedCall turnEnded = OnTurnEnded;
        static readonly SaveCall save = OnSave;
        static readonly LoadCall load = OnLoad;
        static readonly ResultCall result = OnResult;
        static readonly OverCall isOver = OnIsOver;
        static readonly VisitCall visit = OnVisit;

        internal static GameTable Table(Game game, IntPtr context) => new GameTable
        {
            Context = context, ActionBits = game.ActionBits,
            ActionLength = Pointer(actionLength), Apply = Pointer(apply), Step = Pointer(step), Checksum = Pointer(checksum),
            TurnStarted = Pointer(turnStarted), TurnEnded = Pointer(turnEnded), PlayerGone = Pointer(playerGone),
            PlayerSurrendered = Pointer(playerSurrendered), PlayerTakenOver = Pointer(playerTakenOver), PlayerReturned = Pointer(playerReturned),
            PlayFor = Pointer(playFor), Save = game.HasState ? Pointer(save) : IntPtr.Zero, Load = game.HasState ? Pointer(load) : IntPtr.Zero,
            SavePoint = Pointer(savePoint), Result = Pointer(result),
            IsOver = Pointer(isOver), Visit = game.NamesNumbers ? Pointer(visit) : IntPtr.Zero,
        };
        static IntPtr Pointer(Delegate function) => Marshal.GetFunctionPointerForDelegate(function);

        /// <summary>Runs a function of the game. An exception ends here.</summary>
        static T On<T>(IntPtr context, Func<Game, T> run)
        {
            var game = (Game)GCHandle.FromIntPtr(context).Target;
            try
            {
                return run(game);
            }
            catch (Exception thrown)
            {
                game.Thrown = game.Thrown ?? thrown;
                return default(T);
            }
        }
        /// <summary>What reads bytes of strangers: that the library refuses them is the answer "no".</summary>
        static T Read<T>(IntPtr context, Func<Game, T> run) => On(context, game =>
        {
            try { return run(game); }
            catch (TestudoException) { return default(T); }
        });
        static void Do(IntPtr context, Action<Game> run) => On(context, game => { run(game); return true; });
        static byte Yes(bool yes) => yes ? (byte)1 : (byte)0;
        static byte[] Bits(IntPtr data, uint bits) => Numbers.Copy(data, (int)((bits + 7) / 8));

        [MonoPInvokeCallback(typeof(LengthCall))] static uint OnActionLength(IntPtr context, IntPtr data, uint bits) => Read(context, game => game.ActionLength(Bits(data, bits), bits));
        [MonoPInvokeCallback(typeof(ApplyCall))] static void OnApply(IntPtr context, uint player, IntPtr data, uint bits) => Do(context, game => game.Apply(player, Bits(data, bits), bits));
        [MonoPInvokeCallback(typeof(NumberCall))] static void OnStep(IntPtr context, uint framesPerSecond) => Do(context, game => game.Step(framesPerSecond));
        [MonoPInvokeCallback(typeof(ChecksumCall))] static ulong OnChecksum(IntPtr context) => On(context, game => game.Checksum());
        [MonoPInvokeCallback(typeof(TwoCall))] static void OnTurnStarted(IntPtr context, uint turn, uint frames) => Do(context, game => game.TurnStarted(turn, frames));
        [MonoPInvokeCallback(typeof(EndedCall))] static void OnTurnEnded(IntPtr context, uint turn, ulong checksum) => Do(context, game => game.TurnEnded(turn, checksum));
        [MonoPInvokeCallback(typeof(TwoCall))] static void OnPlayerGone(IntPtr context, uint player, uint turn) => Do(context, game => game.PlayerGone(player, turn));
        [MonoPInvokeCallback(typeof(TwoCall))] static void OnPlayerSurrendered(IntPtr context, uint player, uint turn) => Do(context, game => game.PlayerSurrendered(player, turn));
        [MonoPInvokeCallback(typeof(TwoCall))] static void OnPlayerTakenOver(IntPtr context, uint player, uint turn) => Do(context, game => game.PlayerTakenOver(player, turn));
        [MonoPInvokeCallback(typeof(TwoCall))] static void OnPlayerReturned(IntPtr context, uint player, uint turn) => Do(context, game => game.PlayerReturned(player, turn));
        [MonoPInvokeCallback(typeof(TwoCall))] static void OnPlayFor(IntPtr context, uint player, uint turn) => Do(context, game => game.PlayFor(player, turn));
        [MonoPInvokeCallback(typeof(SaveCall))] static byte OnSave(IntPtr context, IntPtr buffer) => On(context, game => { using (var to = new Buffer(buffer)) return Yes(game.Save(to)); });
        [MonoPInvokeCallback(typeof(LoadCall))] static byte OnLoad(IntPtr context, IntPtr data, UIntPtr length) => Read(context, game => Yes(game.Load(Numbers.Copy(data, (int)length))));
        [MonoPInvokeCallback(typeof(NumberCall))] static void OnSavePoint(IntPtr context, uint turn) => Do(context, game => game.SavePoint(turn));
        [MonoPInvokeCallback(typeof(OverCall))] static byte OnIsOver(IntPtr context) => On(context, game => Yes(game.IsOver()));
        [MonoPInvokeCallback(typeof(VisitCall))] static void OnVisit(IntPtr context, IntPtr visit) => Do(context, game => { using (var numbers = new Visit(visit)) game.Visit(numbers); });
        [MonoPInvokeCallback(typeof(ResultCall))]
        static byte OnResult(IntPtr context, IntPtr to) => On(context, game =>
        {
            var decided = game.Result();
            if (decided.HasValue) Marshal.WriteInt32(to, unchecked((int)decided.Value));
            return Yes(decided.HasValue);
        });
    }
}
