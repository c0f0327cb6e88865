// Units that find their way.
using System;

namespace Testudo
{
    /// <summary>Units that find their way: dynamic bodies of one world, which every call gets beside the crowd. In each frame Step of the crowd, then that of
    /// the world. What is not here: Native has all functions.</summary>
    public sealed class Crowd : Owner
    {
        public const uint Arrived = 0, Unreachable = 1, GaveUp = 2, Gone = 3, PreyGone = 4;

        public Crowd(CrowdDef def) : base(New(def)) { }
        protected override bool ReleaseHandle() { Native.testudo_crowd_free(handle); return true; }
        static IntPtr New(CrowdDef def) => Made(Native.testudo_crowd_new(ref def, out var handle), handle);

        public static CrowdDef Default(Box area) { TestudoException.Check(Native.testudo_crowd_def_default(ref area, out var def)); return def; }
        /// <summary>Go there and stand as a disc; change what is not so.</summary>
        public static MoveOrder Go(long x, long y) { TestudoException.Check(Native.testudo_move_order_go(x, y, out var order)); return order; }

        /// <summary>Looks at all obstacles: before the first order.</summary>
        public void Survey(World world) => TestudoException.Check(Native.testudo_crowd_survey(this, world));
        public void SurveyArea(World world, Box area) => TestudoException.Check(Native.testudo_crowd_survey_area(this, world, ref area));
        public void SetCost(World world, Box area, uint cost) => TestudoException.Check(Native.testudo_crowd_set_cost(this, world, ref area, cost));
        public void Add(World world, ulong body, long speed, long acceleration) => TestudoException.Check(Native.testudo_crowd_add(this, world, body, speed, acceleration));
        public bool Remove(World world, ulong body) => World.Counted(Native.testudo_crowd_remove(this, world, body)) == 1;
        public void Order(World world, ulong[] units, MoveOrder order) =>
            TestudoException.Check(Native.testudo_crowd_order(this, world, units, (uint)units.Length, ref order));
        public void Send(ulong unit, Vec2 goal, Vec2 place) => TestudoException.Check(Native.testudo_crowd_send(this, unit, ref goal, ref place));
        public void Pursue(World world, ulong unit, ulong prey, long reach) => TestudoException.Check(Native.testudo_crowd_pursue(this, world, unit, prey, reach));
        public void Stop(World world, ulong[] units) => TestudoException.Check(Native.testudo_crowd_stop(this, world, units, (uint)units.Length));
        public void Step(World world, uint framesPerSecond) => TestudoException.Check(Native.testudo_crowd_step(this, world, framesPerSecond));
        public ulong Checksum()
        {
            ulong sum = Native.testudo_crowd_checksum(this);
            if (sum == 0) World.Counted(Native.testudo_crowd_events(this, null, 0)); // it was refused: no crowd has this one
            return sum;
        }
        public UnitState State(ulong unit) { TestudoException.Check(Native.testudo_crowd_unit_state(this, unit, out var state)); return state; }
        /// <summary>Of the last step.</summary>
        public MoveEvent[] Events() => World.List<MoveEvent>((to, capacity) => Native.testudo_crowd_events(this, to, capacity));
        /// <summary>Appends the state.</summary>
        public void Save(Buffer to) => TestudoException.Check(Native.testudo_crowd_save(this, to));
        /// <summary>Bytes of any origin, with the world of the same moment. If they are refused, the crowd stays as it was.</summary>
        public void Load(World world, byte[] bytes) => TestudoException.Check(Native.testudo_crowd_load(this, world, bytes, (UIntPtr)bytes.Length));
    }
}
